//! The contract tells good spouts from bad ones: the example in the documentation, and a row of liars.

use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput};
use anchorbolt_host::spouts::contract::{Expected, check_spout};
use std::panic::catch_unwind;
use std::time::Duration;

#[path = "../../examples/five_sentences.rs"]
#[allow(dead_code, unreachable_pub, reason = "the example has a main of its own")]
mod five_sentences;

use five_sentences::FiveSentences;

#[test]
fn the_five_sentence_spout_keeps_the_contract() {
    check_spout(|| Box::new(FiveSentences::new(30)), &Expected::messages(150).replay(Replay::Spout));
}

#[derive(Clone, Copy, Debug)]
enum Lie {
    Nothing,
    OverBudget,
    TwiceTheSameId,
    NotDone,
    ForgetsOnFail,
    OffsetsWrong,
    NotFinite,
    NeverWakes,
    Blocks,
}

/// A spout of ten messages with one fault.
struct Liar {
    lie: Lie,
    emitted: u64,
    again: Vec<MessageId>,
}

impl Spout for Liar {
    fn open(&mut self, _context: SpoutContext) -> Result<(), SpoutError> {
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let budget =
            if matches!(self.lie, Lie::OverBudget) && budget > 0 { budget.saturating_add(1) } else { budget };
        while out.len() < budget {
            let id = match self.again.pop() {
                Some(id) => id,
                None if self.emitted < 10 => {
                    self.emitted += 1;
                    MessageId::pair(0, self.emitted)
                }
                None => break,
            };
            let id =
                if matches!(self.lie, Lie::TwiceTheSameId) { MessageId::pair(0, id.low() % 8) } else { id };
            out.emit(id, 0, &[0x91, id.low() as u8]);
        }
        match self.lie {
            Lie::OffsetsWrong if !out.is_empty() => out.offsets[0] = 1,
            Lie::NeverWakes if out.is_empty() && budget > 0 => return Ok(Next::Idle(None)),
            Lie::Blocks if out.is_empty() => std::thread::sleep(Duration::from_millis(1100)),
            Lie::NotDone if out.is_empty() && budget > 0 && self.emitted == 10 => {
                self.emitted += 1;
                return Ok(Next::Done);
            }
            Lie::NotDone if self.emitted > 10 && budget > 0 => out.emit(MessageId(99), 0, &[0x90]),
            _ => {}
        }
        Ok(if out.is_empty() && budget > 0 { Next::Done } else { Next::More })
    }

    fn ack(&mut self, _ids: &[MessageId]) {}

    fn fail(&mut self, id: MessageId, _failure: &Failure) -> Replay {
        if !matches!(self.lie, Lie::ForgetsOnFail) {
            self.again.push(id);
        }
        Replay::Spout
    }

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        !matches!(self.lie, Lie::NotFinite)
    }
}

fn convicted(lie: Lie) -> Option<String> {
    let make = move || -> Box<dyn Spout> { Box::new(Liar { lie, emitted: 0, again: Vec::new() }) };
    let check = move || check_spout(make, &Expected::messages(10).replay(Replay::Spout));
    let panic = catch_unwind(check).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap_or(&"").to_string()))
}

#[test]
fn each_lie_is_named() {
    assert_eq!(convicted(Lie::Nothing), None);
    for (lie, says) in [
        (Lie::OverBudget, "its budget was"),
        (Lie::TwiceTheSameId, "came twice"),
        (Lie::NotDone, "nothing had failed"),
        (Lie::ForgetsOnFail, "failed twice was not emitted three times"),
        (Lie::OffsetsWrong, "the first offset is not 0"),
        (Lie::NotFinite, "finite()"),
        (Lie::NeverWakes, "did not wake"),
        (Lie::Blocks, "must not block"),
    ] {
        let text = convicted(lie).unwrap_or_default();
        assert!(text.contains(says), "{lie:?}: {text:?}");
    }
}
