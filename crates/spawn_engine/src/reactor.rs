//! The thread that waits for exits and reads pipes.

use std::sync::Arc;

use crate::child::PROCESS;
use crate::engine::Engine;
use crate::inbox::Inbox;
use crate::sys;

const EVENTS: usize = 256;
const SCRATCH: usize = 256 * 1024;
/// A process closes its pipes a moment before its exit shows: looking again before the ports are woken tells them
/// both at once.
const LOOKS_PER_WAKE: u32 = 4;

/// The body of the reactor thread.
pub(crate) fn run(engine: &Engine) -> ! {
    sys::block_signals();
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
    let mut scratch = vec![0; SCRATCH];
    let mut asleep: Vec<Arc<Inbox>> = Vec::new();
    let mut looks = 0;
    loop {
        let timeout_ms = if asleep.is_empty() { -1 } else { 0 };
        let ready = engine.epoll.wait(&mut events, timeout_ms);
        for event in ready {
            handle(engine, event.u64, &mut scratch, &mut asleep);
        }
        looks += 1;
        if ready.is_empty() || looks >= LOOKS_PER_WAKE {
            for inbox in asleep.drain(..) {
                inbox.wake();
            }
            looks = 0;
        }
    }
}

fn handle(engine: &Engine, token: u64, scratch: &mut [u8], asleep: &mut Vec<Arc<Inbox>>) {
    let Some(child) = engine.find(token >> 8) else {
        return;
    };
    let stream = token as u8;
    let told = if stream == PROCESS {
        child.on_exit(&engine.epoll, scratch)
    } else {
        child.on_readable(stream, &engine.epoll, scratch)
    };
    if told && !asleep.iter().any(|inbox| Arc::ptr_eq(inbox, &child.inbox)) {
        asleep.push(Arc::clone(&child.inbox));
    }
    engine.forget_if_over(&child);
}
