//! What the owner has written and the engine has not taken: the first words of the command memory, which a thread beside the
//! owner's may look at without the engine's lock.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::wire::outstanding::{CORKED, FIRST_COMMAND, FLUSHES, LINES, TAKEN, UNWATCHED, WRITTEN};

/// The words before the commands.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding(*mut u32);

// SAFETY: every access is atomic; whoever makes one sees to it that the memory outlives it.
unsafe impl Send for Outstanding {}

/// What stood there at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Where the commands end.
    pub written: usize,
    /// Where those begin that nobody has taken.
    pub taken: usize,
    /// How often the owner's thread has had something taken.
    pub flushes: u32,
    /// Whether the kernel keeps ends of packets back.
    pub is_corked: bool,
}

impl Seen {
    /// Whether anything waits for a flush.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.has_commands() || self.is_corked
    }

    pub(crate) fn has_commands(&self) -> bool {
        self.taken < self.written
    }
}

impl Outstanding {
    /// `commands` is the memory the owner writes its commands to, aligned for words and at least [`FIRST_COMMAND`] of them, for as
    /// long as this is used.
    pub(crate) fn new(commands: *mut u32) -> Self {
        let this = Self(commands);
        this.word(WRITTEN)
            .store(FIRST_COMMAND as u32, Ordering::Release);
        this.word(TAKEN)
            .store(FIRST_COMMAND as u32, Ordering::Release);
        this.set_unwatched(true);
        this
    }

    fn word(&self, index: usize) -> &AtomicU32 {
        // SAFETY: one of the first words of the memory; see `new`.
        unsafe { AtomicU32::from_ptr(self.0.add(index)) }
    }

    /// What waits now.
    #[must_use]
    pub fn look(&self) -> Seen {
        Seen {
            written: self.word(WRITTEN).load(Ordering::SeqCst) as usize,
            taken: self.word(TAKEN).load(Ordering::Acquire) as usize,
            flushes: self.word(FLUSHES).load(Ordering::Relaxed),
            is_corked: self.word(CORKED).load(Ordering::SeqCst) != 0,
        }
    }

    pub(crate) fn take_until(&self, end: usize) {
        self.word(TAKEN).store(end as u32, Ordering::Release);
    }

    /// All is taken: the memory is empty. Only while the owner does not write.
    pub(crate) fn reset(&self) {
        if self.look().written == FIRST_COMMAND {
            return;
        }
        self.word(WRITTEN)
            .store(FIRST_COMMAND as u32, Ordering::Release);
        self.word(TAKEN)
            .store(FIRST_COMMAND as u32, Ordering::Release);
        self.count_flush();
    }

    /// The owner's thread has had something sent: the thread beside it leaves it to the owner for now.
    pub(crate) fn count_flush(&self) {
        let flushes = self.word(FLUSHES);
        flushes.store(
            flushes.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
    }

    pub(crate) fn set_lines(&self, servers: u32) {
        self.word(LINES).store(servers, Ordering::SeqCst);
    }

    pub(crate) fn set_corked(&self, is_corked: bool) {
        self.word(CORKED).store(is_corked.into(), Ordering::SeqCst);
    }

    /// Tells the owner whether it has to say when it writes.
    pub fn set_unwatched(&self, is_unwatched: bool) {
        self.word(UNWATCHED)
            .store(is_unwatched.into(), Ordering::SeqCst);
    }
}
