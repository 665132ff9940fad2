//! Ready events of the kernel, handed out in shares.

use libc::epoll_event;

use crate::sys::Epoll;

/// Max events taken from the kernel at once.
const MAX_EVENTS: usize = 256;
/// More events than this are handed out at once: while so many are processed, the first clients have their responses anyway, and
/// each part wakes clients that have gone to sleep.
const MAX_SHARED_EVENTS: usize = 8;

pub(crate) struct ReadyEvents {
    events: [epoll_event; MAX_EVENTS],
    count: usize,
    next: usize,
    /// End of the share being handed out.
    share_end: usize,
    share: usize,
}

impl ReadyEvents {
    pub fn new() -> Self {
        Self {
            events: [epoll_event { events: 0, u64: 0 }; MAX_EVENTS],
            count: 0,
            next: 0,
            share_end: 0,
            share: 0,
        }
    }

    /// Begins a share, one of `shares` of the ready events if these are few. The kernel is polled when everything it reported was
    /// handed out.
    pub fn begin_share(&mut self, epoll: &Epoll, shares: usize) {
        if self.next == self.count {
            self.next = 0;
            self.count = epoll.wait(&mut self.events, 0).len();
            let parts = if self.count > MAX_SHARED_EVENTS {
                1
            } else {
                shares
            };
            self.share = self.count.div_ceil(parts);
        }
        self.share_end = (self.next + self.share).min(self.count);
    }

    /// Returns the next event of the share: its flags, and the token it was registered with.
    pub fn next(&mut self) -> Option<(i32, u64)> {
        if self.next == self.share_end {
            return None;
        }
        let event = self.events[self.next];
        self.next += 1;
        Some((event.events as i32, event.u64))
    }

    /// Returns true if more is known to be ready.
    pub fn has_more(&self) -> bool {
        self.next < self.count || self.count == MAX_EVENTS
    }
}
