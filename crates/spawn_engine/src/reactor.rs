//! The thread that waits for exits and reads pipes.

use std::sync::Arc;

use crate::block;
use crate::child::PROCESS;
use crate::children::Children;
use crate::event::Wake;
use crate::inbox::Inbox;
use crate::sys;

const EVENTS: usize = 256;
/// Time without work after which the memory kept for output is released.
const QUIET_MS: i32 = 1_000;
/// A process closes its pipes a moment before its exit shows: looking again before the ports are woken reports both at once.
const MAX_LOOKS_PER_WAKE: u32 = 4;
/// Time in which the exit that explains the end of a stream usually shows.
const SOON_MS: i32 = 1;

/// The ports to wake.
#[derive(Default)]
struct Sleepers {
    now: Vec<Arc<Inbox>>,
    soon: Vec<Arc<Inbox>>,
}

impl Sleepers {
    fn add(&mut self, inbox: &Arc<Inbox>, wake: Wake) {
        let list = match wake {
            Wake::Never => return,
            Wake::Soon => &mut self.soon,
            Wake::Now => &mut self.now,
        };
        if !list.iter().any(|other| Arc::ptr_eq(other, inbox)) {
            list.push(Arc::clone(inbox));
        }
    }

    /// Wakes those that must be woken now, otherwise those to be woken soon if nothing else has happened since.
    fn wake(&mut self, nothing_happened: bool) {
        if self.now.is_empty() && nothing_happened {
            self.now = std::mem::take(&mut self.soon);
        }
        for inbox in self.now.drain(..) {
            self.soon.retain(|other| !Arc::ptr_eq(other, &inbox));
            inbox.wake();
        }
    }
}

/// The body of the reactor thread.
pub(crate) fn run(children: &Children) -> ! {
    sys::block_signals();
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
    let mut scratch = block::take();
    let mut sleepers = Sleepers::default();
    let mut looks = 0;
    loop {
        let is_idle = sleepers.now.is_empty() && sleepers.soon.is_empty();
        let timeout_ms = match (is_idle, sleepers.now.is_empty()) {
            (true, _) if block::is_open() => QUIET_MS,
            (true, _) => -1,
            (false, true) => SOON_MS,
            (false, false) => 0,
        };
        let ready = children.epoll.wait(&mut events, timeout_ms);
        if is_idle && ready.is_empty() {
            block::close();
        }
        for event in ready {
            handle(children, event.u64, &mut scratch, &mut sleepers);
        }
        looks += 1;
        if ready.is_empty() || looks >= MAX_LOOKS_PER_WAKE {
            sleepers.wake(ready.is_empty());
            looks = 0;
        }
    }
}

fn handle(children: &Children, token: u64, scratch: &mut Vec<u8>, sleepers: &mut Sleepers) {
    let Some(child) = children.find(token >> 16) else {
        return;
    };
    let stream = token as u16;
    let wake = if stream == PROCESS {
        child.on_exit(&children.epoll, scratch)
    } else {
        child.on_readable(stream, &children.epoll, scratch)
    };
    sleepers.add(&child.inbox, wake);
    children.forget_if_over(&child);
}
