//! What a server needs for answers of its own.

use crate::asked::Asked;
use crate::seen::Seen;
use crate::store::StoreHandle;

/// Longer header blocks are read each time.
const LONGEST_BLOCK: usize = 2048;

/// The store it answers from, and what it has found out about requests.
pub(crate) struct OwnAnswers {
    pub store: StoreHandle,
    /// Header blocks that came before. Not those of requests that go to the owner: there an entry says that he has it.
    pub blocks: Seen<Asked>,
}

impl OwnAnswers {
    pub fn new(store: StoreHandle) -> Self {
        Self {
            store,
            blocks: Seen::new(LONGEST_BLOCK),
        }
    }

    /// What was found out about header blocks does not hold any more.
    pub fn forget_blocks(&mut self) {
        self.blocks = Seen::new(LONGEST_BLOCK);
    }
}
