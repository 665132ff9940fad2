//! Writes of the owner that the engine has not taken: the first words of the command memory, which a thread beside the owner's
//! may read without the engine's lock.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::wire::outstanding::{CORKED, FIRST_COMMAND, FLUSHES, LINES, TAKEN, UNWATCHED, WRITTEN};

/// The words before the commands.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding(*mut u32);

// SAFETY: every access is atomic; the creator ensures that the memory outlives it.
unsafe impl Send for Outstanding {}

/// The words at a moment.
#[derive(Clone, Copy, Debug)]
pub struct OutstandingSnapshot {
    /// End of the commands.
    pub written: usize,
    /// Start of the commands not yet taken.
    pub taken: usize,
    /// Number of flushes by the owner's thread.
    pub flushes: u32,
    /// True if the kernel holds back partial packets.
    pub is_corked: bool,
}

impl OutstandingSnapshot {
    /// Returns true if anything waits for a flush.
    #[must_use]
    pub fn needs_flush(&self) -> bool {
        self.has_commands() || self.is_corked
    }

    pub(crate) fn has_commands(&self) -> bool {
        self.taken < self.written
    }
}

impl Outstanding {
    /// `commands` is the owner's command memory, aligned for words and at least [`FIRST_COMMAND`] words long, valid for as long
    /// as this is used.
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

    /// Returns the current words.
    #[must_use]
    pub fn snapshot(&self) -> OutstandingSnapshot {
        OutstandingSnapshot {
            written: self.word(WRITTEN).load(Ordering::SeqCst) as usize,
            taken: self.word(TAKEN).load(Ordering::Acquire) as usize,
            flushes: self.word(FLUSHES).load(Ordering::Relaxed),
            is_corked: self.word(CORKED).load(Ordering::SeqCst) != 0,
        }
    }

    pub(crate) fn take_until(&self, end: usize) {
        self.word(TAKEN).store(end as u32, Ordering::Release);
    }

    /// Resets the memory: all commands are taken. Only while the owner does not write.
    pub(crate) fn reset(&self) {
        if self.snapshot().written == FIRST_COMMAND {
            return;
        }
        self.word(WRITTEN)
            .store(FIRST_COMMAND as u32, Ordering::Release);
        self.word(TAKEN)
            .store(FIRST_COMMAND as u32, Ordering::Release);
        self.count_flush();
    }

    /// Counts a flush by the owner's thread: the thread beside it then leaves the next one to the owner.
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

    /// Sets whether the owner must report its writes.
    pub fn set_unwatched(&self, is_unwatched: bool) {
        self.word(UNWATCHED)
            .store(is_unwatched.into(), Ordering::SeqCst);
    }
}
