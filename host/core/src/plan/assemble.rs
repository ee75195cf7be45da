//! Resolved parts to a [`Plan`]: numbers tasks and edges, settles what depends on declarations.

use super::model::{BoltPlan, Component, Edge, Output, Plan, Role, SpoutPlan};
use super::resolve::Link;
use super::stages;
use super::{Part, PartSource, Parts};
use crate::manifest::{Bolt, Manifest};

/// The plan; none when a part is not known well enough, which was reported where it was found.
pub(super) fn assemble(manifest: &Manifest, parts: &Parts<'_>, links: &[Vec<Link>]) -> Option<Plan> {
    let mut next_task = 1;
    let mut components = Vec::with_capacity(parts.len());
    for (name, part) in parts {
        let component = component(name, part, next_task)?;
        next_task = component.tasks.end;
        components.push(component);
    }
    let edges = connect(&mut components, links)?;
    let mut plan = Plan { topology: manifest.topology.clone(), components, edges, stages: Vec::new() };
    order(&mut plan);
    Some(plan)
}

fn component(name: &str, part: &Part<'_>, first_task: u32) -> Option<Component> {
    let declaration = part.declaration.as_ref()?;
    let (role, tasks, executors) = match part.source {
        PartSource::Spout(spout) => {
            let plan = SpoutPlan {
                kind: spout.kind.clone()?,
                max_pending: spout.max_pending,
                retry: spout.retry.clone(),
                tuple_bytes_max: spout.tuple_bytes_max,
            };
            (Role::Spout(plan), spout.tasks, spout.executors)
        }
        PartSource::Bolt(bolt) => {
            let plan = bolt_plan(bolt, declaration.stateless)?;
            (Role::Bolt(Box::new(plan)), bolt.tasks, bolt.executors)
        }
    };
    let outputs = declaration.outputs.iter().map(|stream| Output {
        name: stream.name.clone(),
        fields: stream.fields.clone(),
        direct: stream.direct,
        consumers: Vec::new(),
    });
    Some(Component {
        name: name.to_owned(),
        role,
        tasks: first_task..first_task.checked_add(tasks)?,
        executors: executors.min(tasks),
        outputs: outputs.collect(),
        inputs: Vec::new(),
    })
}

fn bolt_plan(bolt: &Bolt, declared_stateless: bool) -> Option<BoltPlan> {
    // What a call has done outside can't be discarded when it dies: one tuple a call loses least.
    let careful = bolt.allow.effects().then_some(1);
    Some(BoltPlan {
        code: bolt.code.as_ref()?.value.clone(),
        tick: bolt.tick,
        stateless: bolt.stateless.unwrap_or(declared_stateless),
        recycle_at: bolt.recycle_at.as_ref().map(|at| at.value),
        batch: bolt.batch.or(careful),
        config: bolt.config.clone(),
        limits: bolt.limits.clone(),
        allow: bolt.allow.clone(),
        restart: bolt.restart.clone(),
    })
}

fn connect(components: &mut [Component], links: &[Vec<Link>]) -> Option<Vec<Edge>> {
    let mut edges = Vec::new();
    for (to, links) in links.iter().enumerate() {
        for (input, link) in links.iter().enumerate() {
            let index = edges.len();
            components.get_mut(link.from)?.outputs.get_mut(link.output)?.consumers.push(index);
            components.get_mut(to)?.inputs.push(index);
            edges.push(Edge {
                from: link.from,
                output: link.output,
                to,
                input: u32::try_from(input).ok()?,
                grouping: link.grouping.clone(),
                closes_cycle: false,
            });
        }
    }
    Some(edges)
}

fn order(plan: &mut Plan) {
    let is_spout = |i: &usize| plan.components.get(*i).is_some_and(|c| matches!(c.role, Role::Spout(_)));
    let spouts: Vec<usize> = (0..plan.components.len()).filter(is_spout).collect();
    let ends: Vec<(usize, usize)> = plan.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let order = stages::order(plan.components.len(), &ends, &spouts);
    // A spout takes from nobody, so each is a group of its own.
    let bolts = order.groups.into_iter().filter(|group| !group.iter().any(is_spout));
    plan.stages = std::iter::once(spouts).chain(bolts).collect();
    for (edge, closes) in plan.edges.iter_mut().zip(order.closes_cycle) {
        edge.closes_cycle = closes;
    }
}
