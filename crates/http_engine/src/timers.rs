//! Deadlines of connections: few entries, checked late.
//!
//! A connection moves its deadline with every request. Its entry stays where it is; when it is due, the connection's true
//! deadline is read and gets a new entry. So a busy connection costs one entry per timeout, not per request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::wake::TimerFd;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub at_ms: u64,
    pub slot: u32,
    pub generation: u32,
}

pub(crate) struct Timers {
    entries: BinaryHeap<Reverse<Entry>>,
    timer_fd: TimerFd,
    /// The time the timer is set to, 0 if it is off.
    set_to: u64,
}

impl Timers {
    pub fn new(timer_fd: TimerFd) -> Self {
        Self {
            entries: BinaryHeap::new(),
            timer_fd,
            set_to: 0,
        }
    }

    pub fn add(&mut self, entry: Entry) {
        self.entries.push(Reverse(entry));
        if self.set_to == 0 || entry.at_ms < self.set_to {
            self.set_to = entry.at_ms;
            self.timer_fd.set(entry.at_ms);
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Keeps the entries that are still needed.
    pub fn retain(&mut self, is_awaited: impl Fn(&Entry) -> bool) {
        self.entries.retain(|entry| is_awaited(&entry.0));
    }

    /// Removes and returns the next entry that is due.
    pub fn due(&mut self, now_ms: u64) -> Option<Entry> {
        let Reverse(first) = *self.entries.peek()?;
        if first.at_ms > now_ms {
            return None;
        }
        self.entries.pop();
        Some(first)
    }

    /// Sets the timer after the due entries were taken.
    pub fn rearm(&mut self) {
        self.set_to = self.entries.peek().map_or(0, |entry| entry.0.at_ms);
        self.timer_fd.set(self.set_to);
    }
}
