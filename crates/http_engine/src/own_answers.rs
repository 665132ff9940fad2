//! What a server needs for answers of its own.

use crate::asked::{self, Asked};
use crate::seen::{Look, Seen};
use crate::store::StoreHandle;

/// Longer header blocks are read each time.
const LONGEST_BLOCK: usize = 2048;
/// After so many blocks that did not come before, none of them seems to: behind a proxy that numbers requests all differ. Then one
/// of `SAMPLE` is looked for.
const VAIN: u32 = 64;
const SAMPLE: u32 = 16;

/// The store it answers from, and what it has found out about requests.
pub(crate) struct OwnAnswers {
    pub store: StoreHandle,
    pub blocks: Blocks,
}

impl OwnAnswers {
    pub fn new(store: StoreHandle) -> Self {
        Self {
            store,
            blocks: Blocks::default(),
        }
    }

    /// What was found out about header blocks does not hold any more.
    pub fn forget_blocks(&mut self) {
        self.blocks = Blocks::default();
    }
}

/// Header blocks that came before. Not those of requests that go to the owner: there an entry says that he has it.
pub(crate) struct Blocks {
    seen: Seen<Asked>,
    /// How many came since one was found.
    vain: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            seen: Seen::new(LONGEST_BLOCK),
            vain: 0,
        }
    }
}

impl Blocks {
    /// What a block asks for. `None` if it is not valid.
    pub fn read(&mut self, block: &[u8], noted: Option<&[u8]>) -> Option<Asked> {
        if self.vain > VAIN && !self.vain.is_multiple_of(SAMPLE) {
            self.vain = self.vain.wrapping_add(1);
            return asked::read(block, noted);
        }
        let look = self.seen.look(block);
        if let Look::Known(_, asked) = look {
            self.vain = 0;
            return Some(asked);
        }
        self.vain = self.vain.wrapping_add(1);
        let asked = asked::read(block, noted)?;
        if let Look::Again(hash) = look {
            self.seen.enter(hash, block, asked);
        }
        Some(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocks, SAMPLE, VAIN};

    fn read(blocks: &mut Blocks, host: &str) {
        let block = format!("Host: {host}\r\n\r\n");
        let asked = blocks.read(block.as_bytes(), None).expect("a good block");
        assert!(asked.facts.host);
    }

    #[test]
    fn blocks_that_repeat_are_found_however_many_came_that_do_not() {
        let mut blocks = Blocks::default();
        for number in 0..10 * VAIN {
            read(&mut blocks, &number.to_string());
        }
        assert!(blocks.vain > VAIN);
        for _ in 0..3 * SAMPLE {
            read(&mut blocks, "a");
        }
        assert_eq!(blocks.vain, 0);
        assert!(blocks.read(b"Host: a\nX: y\r\n\r\n", None).is_none());
    }
}
