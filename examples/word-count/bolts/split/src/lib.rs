//! Splits sentences into words.
//!
//! In: tuples whose first field is a string, whatever it is called (`config = { field = 1 }` takes the second). Out: one tuple for each word, on field `word`:
//! words are parted by Unicode white space and otherwise left as they are. Invariant: it keeps nothing between calls.

use anchorbolt_sdk::prelude::*;

/// The bolt.
#[derive(Debug)]
pub struct Split {
    field: usize,
}

impl BasicBolt for Split {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["word"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { field: context.config().get_or("field", 0)? })
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        for word in tuple.str(self.field)?.split_whitespace() {
            out.emit([word]);
        }
        Ok(())
    }
}

anchorbolt_sdk::export!(Split);

#[cfg(test)]
mod tests {
    use anchorbolt_sdk::testing::Harness;

    use super::*;

    #[test]
    fn words_are_anchored_to_their_sentence() -> Result<(), Error> {
        let mut split = Harness::<Split>::new(["line"])?;
        let line = split.feed(["the cat"]);
        assert_eq!(split.rows("default"), [["the"], ["cat"]]);
        assert!(split.emitted().iter().all(|word| word.anchors == [line]));
        assert_eq!(split.acked(), [line]);
        Ok(())
    }

    #[test]
    fn any_white_space_parts_words_and_nothing_else_does() -> Result<(), Error> {
        let mut split = Harness::<Split>::new(["line"])?;
        split.feed([" The\tcat's  hat,\u{2003}isn't\u{a0}it?\r\n"]);
        assert_eq!(split.rows("default"), [["The"], ["cat's"], ["hat,"], ["isn't"], ["it?"]]);
        Ok(())
    }

    #[test]
    fn a_sentence_without_words_is_acked() -> Result<(), Error> {
        let mut split = Harness::<Split>::new(["line"])?;
        let lines = split.feed_batch(0, [[""], [" \n"]]);
        assert!(split.emitted().is_empty());
        assert_eq!(split.acked(), lines);
        Ok(())
    }

    #[test]
    fn what_is_no_string_fails() -> Result<(), Error> {
        let mut split = Harness::<Split>::new(["line"])?;
        split.feed([7]);
        assert_eq!(split.failed()[0].reason, "field 0 (`line`) is an integer where a string is wanted");
        Ok(())
    }
}
