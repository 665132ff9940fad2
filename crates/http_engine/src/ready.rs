//! What the kernel reports as ready, handed out in shares.

use libc::epoll_event;

use crate::sys::Epoll;

/// Events taken from the kernel at once.
const EVENTS: usize = 256;
/// More than these are handed out at once: while so many are worked on, the first clients have their answers anyway, and
/// each part wakes clients that have gone to sleep.
const FEW: usize = 8;

pub(crate) struct Ready {
    events: [epoll_event; EVENTS],
    count: usize,
    next: usize,
    /// Where the share ends that is being handed out.
    share_end: usize,
    share: usize,
}

impl Ready {
    pub fn new() -> Self {
        Self {
            events: [epoll_event { events: 0, u64: 0 }; EVENTS],
            count: 0,
            next: 0,
            share_end: 0,
            share: 0,
        }
    }

    /// Begins a share, one of `shares` of what is ready when that is little. The kernel is asked when everything it reported
    /// was handed out.
    pub fn begin_share(&mut self, epoll: &Epoll, shares: usize) {
        if self.next == self.count {
            self.next = 0;
            self.count = epoll.wait(&mut self.events, 0).len();
            let parts = if self.count > FEW { 1 } else { shares };
            self.share = self.count.div_ceil(parts);
        }
        self.share_end = (self.next + self.share).min(self.count);
    }

    /// The next event of the share: what happened, and the token it was registered with.
    pub fn next(&mut self) -> Option<(i32, u64)> {
        if self.next == self.share_end {
            return None;
        }
        let event = self.events[self.next];
        self.next += 1;
        Some((event.events as i32, event.u64))
    }

    /// Whether more is known to be ready.
    pub fn has_more(&self) -> bool {
        self.next < self.count || self.count == EVENTS
    }
}
