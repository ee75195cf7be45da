//! Custom groupings: what counts as an answer, and what a wrong one or a death costs.

use crate::{first, number, planned, send};
use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::grouping::{
    Choices, CustomGroupings, GroupingFactories, GroupingFault, Router, RowFault, Rows, Source,
};
use anchorbolt_core::ids::RootId;
use anchorbolt_core::plan::Plan;
use anchorbolt_core::port::{CallError, CustomGrouping, Death, Declaration, Emissions, GroupingFactory, Op};
use anchorbolt_row::Row;
use std::sync::{Arc, Mutex};

/// What a row's number makes the grouping do; every other row goes to the first target.
const DIE: u64 = 1000;
const SAY_NO: u64 = 1001;
const STRANGER: u64 = 1002;
const TWICE: u64 = 1003;
const NOWHERE: u64 = 1004;
const ALL: u64 = 1005;
const TOO_FEW: u64 = 1006;

/// What the instances went through: how many rows each question had, and `start` for each instance.
type Diary = Arc<Mutex<Vec<String>>>;

#[derive(Clone, Default)]
struct Maker {
    diary: Diary,
    /// The instance of this number, from 1, and those after it do not prepare.
    refuses_from: Option<usize>,
    /// It dies of that rather than saying so.
    dies: bool,
}

struct Made {
    maker: Maker,
    targets: Vec<u32>,
}

impl Maker {
    fn write(&self, entry: impl Into<String>) {
        self.diary.lock().unwrap().push(entry.into());
    }

    fn read(&self) -> String {
        self.diary.lock().unwrap().drain(..).collect::<Vec<_>>().join(" ")
    }
}

impl GroupingFactory for Maker {
    fn create(&self) -> Result<Box<dyn CustomGrouping>, CallError> {
        self.write("start");
        Ok(Box::new(Made { maker: self.clone(), targets: vec![] }))
    }
}

fn died(class: Class) -> CallError {
    CallError::Died(Death { output: "last words".into(), ..Death::new(class, "boom") })
}

impl CustomGrouping for Made {
    fn prepare(&mut self, fields: &[String], targets: &[u32], config: &str) -> Result<(), CallError> {
        assert_eq!((fields, config), (&["x".to_owned()][..], r#"{"a":1}"#));
        self.targets = targets.to_vec();
        let starts = self.maker.diary.lock().unwrap().iter().filter(|entry| *entry == "start").count();
        match self.maker.refuses_from {
            Some(from) if starts >= from && self.maker.dies => Err(died(Class::Memory)),
            Some(from) if starts >= from => Err(CallError::Declared("not today".into())),
            _ => Ok(()),
        }
    }

    fn choose(&mut self, offsets: &[u32], data: &[u8]) -> Result<Vec<Vec<u32>>, CallError> {
        let rows = offsets.len() - 1;
        self.maker.write(rows.to_string());
        let mut lists = vec![];
        for place in offsets.windows(2) {
            let row = &data[place[0] as usize..place[1] as usize];
            let first = self.targets[0];
            lists.push(match Row::new(row).u64(0).unwrap_or(0) {
                DIE => return Err(died(Class::Trap)),
                SAY_NO => return Err(CallError::Declared("no".into())),
                STRANGER => vec![first, first + 3],
                TWICE => vec![first, first + 1, first],
                NOWHERE => vec![],
                ALL => self.targets.clone(),
                TOO_FEW => continue,
                _ => vec![first],
            });
        }
        Ok(lists)
    }
}

struct World {
    plan: Plan,
    groupings: CustomGroupings,
    choices: Choices,
    router: Router,
    maker: Maker,
}

/// A consumer of three tasks by the plugin, and one by shuffle.
fn world(refuses_from: Option<usize>) -> World {
    world_of(3, refuses_from)
}

fn world_of(tasks: u32, refuses_from: Option<usize>) -> World {
    let plugin = "{ plugin = \"g.wasm\", config = { a = 1 } }";
    let plan = planned(
        Declaration::fields(["x"]).stream("other", ["y"]),
        &[
            ("to", tasks, &[("default", plugin)]),
            ("too", 1, &[("default", "\"shuffle\""), ("other", "\"all\"")]),
        ],
    );
    let maker = Maker { refuses_from, ..Maker::default() };
    let from = plan.component("from").unwrap().0;
    let groupings = CustomGroupings::new(&plan, from, 1 << 20, &factories(&plan, "to", &maker)).unwrap();
    let router = Router::new(&plan, from, 0, 1 << 20);
    World { plan, groupings, choices: Choices::default(), router, maker }
}

/// What makes the grouping of the edges to a component.
fn factories(plan: &Plan, to: &str, maker: &Maker) -> GroupingFactories {
    let to = plan.component(to).unwrap().0;
    let edges = (0..plan.edges.len()).filter(|e| plan.edges[*e].to == to);
    edges.map(|edge| (edge, Arc::new(maker.clone()) as Arc<dyn GroupingFactory>)).collect()
}

type Sent = Result<Vec<u32>, GroupingFault>;

impl World {
    /// Asks for these rows and routes each: the tasks of `to`, counted from its first, or the fault.
    fn send(&mut self, numbers: &[u64]) -> Vec<Sent> {
        let (mut offsets, mut data) = (vec![0], vec![]);
        for n in numbers {
            data.extend(number(*n));
            offsets.push(data.len() as u32);
        }
        let streams = vec![0; numbers.len()];
        let rows = Rows { streams: &streams, offsets: &offsets, data: &data };
        self.groupings.choose_rows(rows, &mut self.choices);
        self.router.exchange(&mut self.choices);
        let (to, too) = (first(&self.plan, "to"), first(&self.plan, "too"));
        let sent = numbers.iter().zip(0..).map(|(n, i)| {
            self.router.number(i);
            match send(&mut self.router, 0, 0, &number(*n)) {
                Ok(mut sent) => {
                    assert!(sent.contains(&(too, 0)), "the other consumer gets its copy");
                    sent.retain(|(task, _)| *task != too);
                    Ok(sent.into_iter().map(|(task, _)| task - to).collect())
                }
                Err(RowFault::Custom(fault)) => Err(*fault),
                Err(other) => panic!("{other}"),
            }
        });
        let sent = sent.collect();
        self.router.exchange(&mut self.choices);
        sent
    }
}

fn fault(class: Class, text: &str) -> GroupingFault {
    let reason = format!("grouping of `from/default` for `to` by plugin g.wasm: {text}");
    GroupingFault { class, cost: Cost::Fault, reason, output: String::new() }
}

#[test]
fn rows_go_where_the_answer_says_and_none_is_legal() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    assert_eq!(world.send(&[1, NOWHERE, ALL, 2]), [Ok(vec![0]), Ok(vec![]), Ok(vec![0, 1, 2]), Ok(vec![0])]);
    assert_eq!(world.maker.read(), "start 4", "one question for all rows");
}

#[test]
fn a_wrong_answer_costs_its_row_alone() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    let first = first(&world.plan, "to");
    let (last, stranger) = (first + 2, first + 3);
    let sent = world.send(&[1, STRANGER, 2, TWICE, 3]);
    let text = format!("it chose task {stranger}, which is none of its targets, {first} to {last}");
    assert_eq!(sent[1], Err(fault(Class::Protocol, &text)));
    assert_eq!(sent[3], Err(fault(Class::Protocol, &format!("it chose task {first} twice for one row"))));
    assert_eq!([&sent[0], &sent[2], &sent[4]], [&Ok(vec![0]), &Ok(vec![0]), &Ok(vec![0])]);
    assert_eq!(world.maker.read(), "start 5");
}

#[test]
fn rows_beside_one_that_kills_are_asked_for_again_one_by_one() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    let sent = world.send(&[1, DIE, ALL, SAY_NO, 2]);
    let death = GroupingFault { output: "last words".into(), ..fault(Class::Trap, "it died: boom") };
    assert_eq!(
        sent,
        [Ok(vec![0]), Err(death), Ok(vec![0, 1, 2]), Err(fault(Class::Failed, "it says: no")), Ok(vec![0])]
    );
    assert_eq!(world.maker.read(), "start 5 start 1 1 start 1 1 1", "a fresh instance after each death");
    // Then careful for a while: 1, 2, 4 rows.
    assert!(world.send(&[5; 9]).iter().all(Result::is_ok));
    assert_eq!(world.maker.read(), "1 2 4 2");
}

#[test]
fn too_few_lists_are_the_fault_of_the_row_that_lacks_one() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    let sent = world.send(&[1, TOO_FEW, 2]);
    assert_eq!(sent[1], Err(fault(Class::Protocol, "it answered 0 lists of tasks for 1 rows")));
    assert_eq!([&sent[0], &sent[2]], [&Ok(vec![0]), &Ok(vec![0])]);
    assert_eq!(world.maker.read(), "start 3 1 1 1", "which one can't be told from three");
}

#[test]
fn many_deaths_in_a_row_end_the_questions_and_what_is_left_pays_nothing() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    let mut numbers = vec![DIE; 20];
    numbers.push(1);
    let sent = world.send(&numbers);
    let costs: Vec<_> = sent.iter().map(|sent| sent.as_ref().unwrap_err().cost).collect();
    assert_eq!(costs, [[Cost::Fault; 9].as_slice(), &[Cost::Free; 12]].concat());
    assert_eq!(world.send(&[1]), [Ok(vec![0])], "the next call is asked for again");
}

#[test]
fn what_is_chosen_over_one_call_has_a_bound() {
    let mut world = world_of(1 << 16, None);
    world.groupings.start().unwrap();
    let row = number(ALL);
    let (streams, data) = (vec![0; 258], row.repeat(258));
    let offsets: Vec<u32> = (0..=258).map(|i| i * row.len() as u32).collect();
    let rows = Rows { streams: &streams, offsets: &offsets, data: &data };
    world.groupings.choose_rows(rows, &mut world.choices);
    world.router.exchange(&mut world.choices);
    let mut sent = |number| {
        world.router.number(number);
        send(&mut world.router, 0, 0, &row)
    };
    assert_eq!(sent(255).unwrap().len(), (1 << 16) + 1);
    let Err(RowFault::Custom(fault)) = sent(256) else { panic!("256 times 65,536 is the most") };
    assert_eq!((fault.class, fault.cost), (Class::Overflow, Cost::Fault));
}

#[test]
fn one_that_does_not_prepare_is_said_at_the_start_and_after_a_death() {
    let text = "it does not prepare: not today";
    let mut world = world(Some(1));
    assert_eq!(world.groupings.start(), Err(fault(Class::Failed, text).reason));
    let mut world = self::world(Some(2));
    world.groupings.start().unwrap();
    let sent = world.send(&[1, DIE, 2]);
    assert_eq!(sent[0], Err(fault(Class::Failed, text)));
    assert!(sent[1..].iter().all(|sent| sent.as_ref().unwrap_err().cost == Cost::Free), "{sent:?}");
}

#[test]
fn one_that_dies_while_it_prepares_leaves_its_last_words() {
    let mut world = world(Some(2));
    let maker = Maker { refuses_from: Some(2), dies: true, ..Maker::default() };
    let from = world.plan.component("from").unwrap().0;
    world.groupings =
        CustomGroupings::new(&world.plan, from, 99, &factories(&world.plan, "to", &maker)).unwrap();
    world.groupings.start().unwrap();
    let sent = world.send(&[1, DIE]);
    let text = "it died before it could choose: boom";
    assert_eq!(sent[0], Err(GroupingFault { output: "last words".into(), ..fault(Class::Memory, text) }));
}

#[test]
fn rows_that_are_none_never_reach_it() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    let data = [number(1), b"\xc1".to_vec(), number(2)].concat();
    let end = data.len() as u32;
    let mut ask = |streams: &[u32], offsets: &[u32], data: &[u8]| {
        world.groupings.choose_rows(Rows { streams, offsets, data }, &mut world.choices);
        world.maker.read().replace("start ", "").replace("start", "")
    };
    assert_eq!(ask(&[0, 0, 0], &[0, 2, 3, end], &data), "2", "the bad row is left out");
    assert_eq!(ask(&[1, 7], &[0, 2, 4], &data), "", "other streams");
    assert_eq!(ask(&[0, 0], &[0, 2], &data), "", "too few offsets");
    assert_eq!(ask(&[0, 0], &[2, 0, 2], &data), "", "descending");
    assert_eq!(ask(&[0], &[0, end + 1], &data), "", "beyond the data");
}

#[test]
fn a_call_of_many_rows_is_asked_in_parts() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    assert!(world.send(&[1; 600]).iter().all(Result::is_ok));
    assert_eq!(world.maker.read(), "start 256 256 88");
}

#[test]
fn a_question_has_a_mebibyte_at_most_and_rows_beyond_the_limit_are_not_asked_for() {
    let mut world = world(None);
    world.groupings.start().unwrap();
    let text = |bytes: usize| {
        [b"\x91\xdb".to_vec(), (bytes as u32 - 6).to_be_bytes().to_vec(), vec![b'a'; bytes - 6]].concat()
    };
    let mut ask = |groupings: &mut CustomGroupings, rows: &[Vec<u8>]| {
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len() as u32;
            Some(*end)
        });
        let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let streams = vec![0; rows.len()];
        groupings.choose_rows(
            Rows { streams: &streams, offsets: &offsets, data: &rows.concat() },
            &mut world.choices,
        );
        world.maker.read().replace("start ", "")
    };
    let half = 1 << 19;
    assert_eq!(ask(&mut world.groupings, &[text(half), text(half), text(half)]), "2 1");
    assert_eq!(ask(&mut world.groupings, &[text(half), text(half + 1), text(6)]), "1 2");
    let from = world.plan.component("from").unwrap().0;
    let made = factories(&world.plan, "to", &world.maker);
    let mut small = CustomGroupings::new(&world.plan, from, 3, &made).unwrap();
    small.start().unwrap();
    assert_eq!(
        ask(&mut small, &[number(1), number(200), number(300), number(301)]),
        "2",
        "of two and three bytes, not of four"
    );
}

/// A stream with two such groupings and one by shuffle; a log of three calls to the collector.
#[test]
fn emissions_are_numbered_over_the_log_and_groupings_over_the_stream() {
    let plugin = "{ plugin = \"g.wasm\", config = { a = 1 } }";
    let both: &[(&str, &str)] = &[("default", plugin)];
    let plan = planned(
        Declaration::fields(["x"]),
        &[("a", 3, both), ("b", 2, both), ("c", 1, &[("default", "\"shuffle\"")])],
    );
    let (maker, from) = (Maker::default(), plan.component("from").unwrap().0);
    let mut made = factories(&plan, "a", &maker);
    made.extend(factories(&plan, "b", &maker));
    let mut groupings = CustomGroupings::new(&plan, from, 99, &made).unwrap();
    groupings.start().unwrap();
    assert!(!groupings.is_empty());
    let none = CustomGroupings::new(&plan, plan.component("c").unwrap().0, 99, &made).unwrap();
    assert!(none.is_empty());

    let emit =
        |n| Emissions { streams: vec![0], offsets: vec![0, 2], data: number(n), ..Emissions::default() };
    let log = [Op::Emit(emit(5)), Op::EmitPlaced(emit(1), vec![vec![]]), Op::Ack(vec![]), Op::Emit(emit(2))];
    let (mut choices, mut router) = (Choices::default(), Router::new(&plan, from, 0, 99));
    groupings.choose_log(&log, &mut choices);
    router.exchange(&mut choices);
    let (a, b, c) = (first(&plan, "a"), first(&plan, "b"), first(&plan, "c"));
    let mut rng = fastrand::Rng::with_seed(5);
    for number_of in [0, 1] {
        router.number(number_of);
        let (xor, copies) =
            router.route(0, 0, &number(1), 1, Source::One(RootId(7)), &mut || rng.u64(1..)).unwrap();
        let mut batches = vec![];
        router.take(&mut batches);
        let mut tasks: Vec<u32> = batches.iter().map(|batch| batch.task).collect();
        tasks.sort_unstable();
        assert_eq!((copies, tasks), (3, vec![a, b, c]));
        assert_eq!(xor, batches.iter().flat_map(|batch| &batch.edges).fold(0, |xor, edge| xor ^ edge));
    }
    router.number(2);
    assert_eq!(send(&mut router, 0, 0, &number(1)), Ok(vec![(c, 0)]), "nothing was asked for");
}

#[test]
fn whose_fault_a_row_is_can_be_told() {
    let custom = fault(Class::Memory, "x");
    let fault = RowFault::Custom(Box::new(custom.clone()));
    assert_eq!((fault.class(), fault.custom()), (Class::Memory, Some(&custom)));
    let fault = RowFault::NoTarget { stream: "s".into() };
    assert_eq!((fault.class(), fault.custom()), (Class::Protocol, None));
}

#[test]
fn places_are_refused_where_a_plugin_chooses() {
    let mut world = world(None);
    let fault = world.router.place(0, 0, &number(1)).unwrap_err();
    assert!(fault.to_string().starts_with("`emit-placed` on stream `default`"), "{fault}");
    assert!(world.router.place(1, 0, &number(1)).is_ok());
}

#[test]
fn code_that_is_missing_is_said_with_its_edge() {
    let world = world(None);
    let from = world.plan.component("from").unwrap().0;
    let missing = CustomGroupings::new(&world.plan, from, 1, &GroupingFactories::new()).err();
    assert_eq!(
        missing.as_deref(),
        Some("there is no code for the grouping of `from/default` for `to` by plugin g.wasm")
    );
}
