//! Cycles, and the order in which a topology drains.
//!
//! Two passes (Kosaraju): a depth-first search marks the edges that lead back and notes the order in which
//! components are left; a second one against the arrows, in the reverse of that order, collects each cycle.
//! Neither recurses: a manifest's depth is not the stack's.

/// What the passes found.
pub(super) struct Order {
    /// Whether edge i leads back. Without these edges there is no cycle.
    pub(super) closes_cycle: Vec<bool>,
    /// Components in topological order; those of a cycle together, in rising order.
    pub(super) groups: Vec<Vec<usize>>,
}

/// Orders `count` components. The search starts from `roots` in their order, then from the rest, so that
/// an edge leads back as seen from there.
pub(super) fn order(count: usize, edges: &[(usize, usize)], roots: &[usize]) -> Order {
    let (closes_cycle, left) = forward(count, edges, roots);
    Order { closes_cycle, groups: backward(count, edges, &left) }
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Left,
}

fn forward(count: usize, edges: &[(usize, usize)], roots: &[usize]) -> (Vec<bool>, Vec<usize>) {
    let outgoing = adjacency(count, edges.iter().map(|(from, to)| (*from, *to)));
    let mut marks = vec![Mark::New; count];
    let mut closes = vec![false; edges.len()];
    let mut left = Vec::with_capacity(count);
    for root in roots.iter().copied().chain(0..count) {
        if marks.get(root) != Some(&Mark::New) {
            continue;
        }
        let mut path = vec![(root, 0)];
        set(&mut marks, root, Mark::Open);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some((edge, to)) = outgoing.get(node).and_then(|edges| edges.get(*next)).copied() else {
                set(&mut marks, node, Mark::Left);
                left.push(node);
                path.pop();
                continue;
            };
            *next += 1;
            match marks.get(to) {
                Some(Mark::New) => {
                    set(&mut marks, to, Mark::Open);
                    path.push((to, 0));
                }
                Some(Mark::Open) => set(&mut closes, edge, true),
                _ => {}
            }
        }
    }
    (closes, left)
}

fn backward(count: usize, edges: &[(usize, usize)], left: &[usize]) -> Vec<Vec<usize>> {
    let incoming = adjacency(count, edges.iter().map(|(from, to)| (*to, *from)));
    let mut taken = vec![false; count];
    let mut groups = Vec::new();
    for &start in left.iter().rev() {
        if taken.get(start) != Some(&false) {
            continue;
        }
        set(&mut taken, start, true);
        let mut group = vec![start];
        let mut at = 0;
        while let Some(&node) = group.get(at) {
            for &(_, from) in incoming.get(node).into_iter().flatten() {
                if taken.get(from) == Some(&false) {
                    set(&mut taken, from, true);
                    group.push(from);
                }
            }
            at += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

/// For each component its edges as (index of the edge, component at the other end).
fn adjacency(count: usize, ends: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<(usize, usize)>> {
    let mut lists = vec![Vec::new(); count];
    for (edge, (near, far)) in ends.enumerate() {
        if let Some(list) = lists.get_mut(near) {
            list.push((edge, far));
        }
    }
    lists
}

fn set<T>(list: &mut [T], i: usize, value: T) {
    if let Some(place) = list.get_mut(i) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closing(edges: &[(usize, usize)], order: &Order) -> Vec<(usize, usize)> {
        edges.iter().zip(&order.closes_cycle).filter(|(_, closes)| **closes).map(|(edge, _)| *edge).collect()
    }

    #[test]
    fn a_chain_and_a_diamond() {
        let edges = [(3, 1), (3, 2), (1, 0), (2, 0)];
        let order = order(4, &edges, &[3]);
        assert_eq!(closing(&edges, &order), []);
        assert_eq!(order.groups, [vec![3], vec![2], vec![1], vec![0]]);
    }

    #[test]
    fn a_cycle_is_one_group_and_one_edge_leads_back() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)];
        let order = order(5, &edges, &[0]);
        assert_eq!(closing(&edges, &order), [(3, 1)]);
        assert_eq!(order.groups, [vec![0], vec![1, 2, 3], vec![4]]);
    }

    #[test]
    fn a_bolt_that_takes_from_itself() {
        let edges = [(0, 1), (1, 1)];
        let order = order(2, &edges, &[0]);
        assert_eq!(closing(&edges, &order), [(1, 1)]);
        assert_eq!(order.groups, [vec![0], vec![1]]);
    }

    /// Against an obvious oracle: reachability by repeated expansion.
    #[test]
    fn random_graphs_agree_with_reachability() {
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let count = rng.usize(1..9);
            let edges: Vec<(usize, usize)> =
                (0..rng.usize(0..20)).map(|_| (rng.usize(0..count), rng.usize(0..count))).collect();
            let order = order(count, &edges, &[0]);
            let reach = reachability(count, edges.iter().copied());
            let forward = edges.iter().zip(&order.closes_cycle).filter(|(_, closes)| !**closes);
            let acyclic = reachability(count, forward.map(|(edge, _)| *edge));
            let group_of = |n: usize| order.groups.iter().position(|g| g.contains(&n)).unwrap();
            for a in 0..count {
                assert!(!acyclic[a][a], "seed {seed}: a cycle is left at {a}");
                for (b, &reached) in reach[a].iter().enumerate() {
                    let together = a == b || (reached && reach[b][a]);
                    assert_eq!(group_of(a) == group_of(b), together, "seed {seed}: {a} and {b}");
                    assert!(!reached || group_of(a) <= group_of(b), "seed {seed}: {a} before {b}");
                }
            }
        }
    }

    fn reachability(count: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; count]; count];
        edges.for_each(|(a, b)| reach[a][b] = true);
        for via in 0..count {
            for a in 0..count {
                for b in 0..count {
                    reach[a][b] |= reach[a][via] && reach[via][b];
                }
            }
        }
        reach
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<(usize, usize)> = (0..200_000).map(|i| (i, i + 1)).collect();
        assert_eq!(order(200_001, &edges, &[0]).groups.len(), 200_001);
    }
}
