//! The thread that waits for exits and reads pipes.

use std::sync::Arc;

use crate::block;
use crate::child::PROCESS;
use crate::children::Children;
use crate::inbox::Inbox;
use crate::sys;

const EVENTS: usize = 256;
/// Time without work after which the memory kept for output is released.
const QUIET_MS: i32 = 1_000;
/// A process closes its pipes a moment before its exit shows: looking again before the ports are woken reports both at once.
const MAX_LOOKS_PER_WAKE: u32 = 4;

/// The body of the reactor thread.
pub(crate) fn run(children: &Children) -> ! {
    sys::block_signals();
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
    let mut scratch = block::take();
    let mut asleep: Vec<Arc<Inbox>> = Vec::new();
    let mut looks = 0;
    loop {
        let is_idle = asleep.is_empty();
        let timeout_ms = match is_idle {
            false => 0,
            true if block::is_open() => QUIET_MS,
            true => -1,
        };
        let ready = children.epoll.wait(&mut events, timeout_ms);
        if is_idle && ready.is_empty() {
            block::close();
        }
        for event in ready {
            handle(children, event.u64, &mut scratch, &mut asleep);
        }
        looks += 1;
        if ready.is_empty() || looks >= MAX_LOOKS_PER_WAKE {
            for inbox in asleep.drain(..) {
                inbox.wake();
            }
            looks = 0;
        }
    }
}

fn handle(children: &Children, token: u64, scratch: &mut Vec<u8>, asleep: &mut Vec<Arc<Inbox>>) {
    let Some(child) = children.find(token >> 16) else {
        return;
    };
    let stream = token as u16;
    let must_wake = if stream == PROCESS {
        child.on_exit(&children.epoll, scratch)
    } else {
        child.on_readable(stream, &children.epoll, scratch)
    };
    if must_wake && !asleep.iter().any(|inbox| Arc::ptr_eq(inbox, &child.inbox)) {
        asleep.push(Arc::clone(&child.inbox));
    }
    children.forget_if_over(&child);
}
