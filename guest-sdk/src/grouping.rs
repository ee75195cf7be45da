//! Groupings of an author's own: which tasks a row goes to.
//!
//! In: the host's calls, with many rows at a time. Out: a [`Grouping`] made by `prepare` and asked for each row.
//! Invariant: an answer has one list for each row, or the call is an error.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::bindings::grouping::exports::anchorbolt::bolt::grouping_guest as wit;
use crate::{Config, Error, Fields, Input, Row};

/// Chooses the tasks that rows go to. It is made once for each task that emits, and again after a death.
///
/// ```
/// use anchorbolt_sdk::prelude::*;
/// use anchorbolt_sdk::{Fields, Grouping, GroupingContext};
///
/// /// Regions have tasks of their own, in the order of the config: `{ regions = ["eu", "us"] }`.
/// struct ByRegion {
///     regions: Vec<String>,
///     targets: Vec<u32>,
/// }
///
/// impl Grouping for ByRegion {
///     fn prepare(context: &GroupingContext) -> Result<Self, Error> {
///         let regions: Vec<String> = context.config().require("regions")?;
///         if regions.len() > context.targets().len() {
///             return Err(Error::fail("there are more regions than tasks"));
///         }
///         Ok(Self { regions, targets: context.targets().to_vec() })
///     }
///
///     fn choose(&mut self, row: &Fields<'_>) -> Result<Vec<u32>, Error> {
///         let region = row.str("region")?;
///         let place = self.regions.iter().position(|known| known == region);
///         Ok(place.map(|place| self.targets[place]).into_iter().collect()) // an unknown one goes nowhere
///     }
/// }
///
/// anchorbolt_sdk::export_grouping!(ByRegion);
///
/// // A test of it, in `#[test]`:
/// use anchorbolt_sdk::testing::GroupingHarness;
///
/// let config = anchorbolt_sdk::json!({ "regions": ["eu", "us"] });
/// let mut by_region = GroupingHarness::<ByRegion>::new(["region"], [4, 5], config)?;
/// assert_eq!(by_region.choose(["us"])?, [5]);
/// assert!(by_region.choose(["mars"])?.is_empty());
/// # Ok::<(), Error>(())
/// ```
pub trait Grouping: Sized + 'static {
    /// Makes it ready for the stream and the tasks that the context names.
    ///
    /// # Errors
    /// When its settings make no sense; the topology does not start then.
    fn prepare(context: &GroupingContext) -> Result<Self, Error>;

    /// The ids of the tasks that a row goes to, each one of [`GroupingContext::targets`] and none twice. No task: the
    /// row goes nowhere on this edge.
    ///
    /// # Errors
    /// They fail the emission of this row, and with it the tuples that it is anchored to.
    fn choose(&mut self, row: &Fields<'_>) -> Result<Vec<u32>, Error>;
}

/// What a grouping finds: the stream, the tasks to choose from, its settings.
#[derive(Debug)]
pub struct GroupingContext {
    /// Only its fields are known.
    stream: Input,
    targets: Vec<u32>,
    config: Config,
}

impl GroupingContext {
    fn new(fields: Vec<String>, targets: Vec<u32>, config: String) -> Self {
        let stream = Input { component: String::new(), stream: String::new(), fields, tasks: Vec::new() };
        Self { stream, targets, config: Config::new(config) }
    }

    /// The names of the stream's fields.
    pub fn fields(&self) -> &[String] {
        &self.stream.fields
    }

    /// The ids of the tasks to choose from, ascending.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The grouping's settings.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// A grouping as the contract's exports see it.
#[derive(Debug)]
pub struct GroupingAdapter<G>(PhantomData<G>);

thread_local! {
    static INSTANCE: RefCell<Option<Box<dyn Choose>>> = const { RefCell::new(None) };
}

/// An instance whose type is forgotten: statics are not generic.
trait Choose {
    fn choose(&mut self, offsets: &[u32], data: &[u8]) -> Result<Vec<Vec<u32>>, String>;
}

/// One prepared grouping.
pub(crate) struct Instance<G> {
    grouping: G,
    pub(crate) context: GroupingContext,
}

impl<G: Grouping> Instance<G> {
    pub(crate) fn prepare(fields: Vec<String>, targets: Vec<u32>, config: String) -> Result<Self, Error> {
        let context = GroupingContext::new(fields, targets, config);
        Ok(Self { grouping: G::prepare(&context)?, context })
    }

    pub(crate) fn one(&mut self, row: &[u8]) -> Result<Vec<u32>, Error> {
        self.grouping.choose(&Fields::new(Row::new(row), Some(&self.context.stream)))
    }
}

impl<G: Grouping> Choose for Instance<G> {
    fn choose(&mut self, offsets: &[u32], data: &[u8]) -> Result<Vec<Vec<u32>>, String> {
        let rows = offsets.windows(2).map(|place| &data[place[0] as usize..place[1] as usize]);
        rows.map(|row| self.one(row).map_err(Error::into_reason)).collect()
    }
}

impl<G: Grouping> wit::Guest for GroupingAdapter<G> {
    fn prepare(fields: Vec<String>, targets: Vec<u32>, config: String) -> Result<(), String> {
        let instance = Instance::<G>::prepare(fields, targets, config).map_err(Error::into_reason)?;
        INSTANCE.set(Some(Box::new(instance)));
        Ok(())
    }

    fn choose(offsets: Vec<u32>, data: Vec<u8>) -> Result<Vec<Vec<u32>>, String> {
        INSTANCE.with_borrow_mut(|instance| match instance {
            Some(instance) => instance.choose(&offsets, &data),
            None => Err("called before prepare".into()),
        })
    }
}
