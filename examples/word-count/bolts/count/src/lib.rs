//! Counts words.
//!
//! In: tuples with a field `word`. Out: for each at once, the word and how often it has come so far, on fields `word`
//! and `count`. Invariant: the counts are this task's own, so its input is grouped by `word`.

use anchorbolt_sdk::prelude::*;
use hashbrown::HashMap;

/// The bolt.
#[derive(Debug, Default)]
pub struct Count {
    counts: HashMap<String, u64>,
}

impl BasicBolt for Count {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["word", "count"]))
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self::default())
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let word = tuple.str("word")?;
        // Copies the word only when it is new.
        let count = self.counts.entry_ref(word).or_default();
        *count += 1;
        out.emit((word, *count));
        Ok(())
    }
}

anchorbolt_sdk::export!(Count);

#[cfg(test)]
mod tests {
    use anchorbolt_sdk::testing::Harness;

    use super::*;

    #[test]
    fn each_word_gets_its_running_total() -> Result<(), Error> {
        let mut count = Harness::<Count>::new(["word"])?;
        let words = count.feed_batch(0, [["the"], ["cat"], ["the"]]);
        assert_eq!(count.rows("default"), [("the", 1), ("cat", 1), ("the", 2)]);
        assert_eq!(count.acked(), words);
        Ok(())
    }

    #[test]
    fn totals_go_on_across_calls_and_are_anchored() -> Result<(), Error> {
        let mut count = Harness::<Count>::new(["word"])?;
        count.feed(["cat"]);
        let second = count.feed(["cat"]);
        assert_eq!(count.rows("default"), [("cat", 1), ("cat", 2)]);
        assert_eq!(count.emitted()[1].anchors, [second]);
        Ok(())
    }

    #[test]
    fn the_word_is_found_by_name() -> Result<(), Error> {
        let mut count = Harness::<Count>::new(["line", "word"])?;
        count.feed((7, "cat"));
        assert_eq!(count.rows("default"), [("cat", 1)]);
        Ok(())
    }

    #[test]
    fn what_is_no_word_fails() -> Result<(), Error> {
        let mut count = Harness::<Count>::new(["word"])?;
        count.feed([true]);
        assert_eq!(count.failed()[0].reason, "field 0 (`word`) is a boolean where a string is wanted");

        let mut count = Harness::<Count>::new(["line"])?;
        count.feed(["cat"]);
        assert_eq!(count.failed()[0].reason, "no field `word`: a tuple from `input` has `line`");
        Ok(())
    }
}
