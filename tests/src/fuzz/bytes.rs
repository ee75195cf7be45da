//! Choices out of bytes: how a target makes a case of an input.
//!
//! In: any bytes. Out: numbers and choices, 0 when the bytes are over. Invariant: every input is some case.

/// Takes bytes from the front.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn u8(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_be_bytes(std::array::from_fn(|_| self.u8()))
    }

    /// Below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::from(self.u8()) % n.max(1)
    }

    /// One time in `n`, seldom for bytes at random and never for a run of zeros.
    pub(super) fn seldom(&mut self, n: u8) -> bool {
        self.u8() % n == n - 1
    }

    pub(super) fn take(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
