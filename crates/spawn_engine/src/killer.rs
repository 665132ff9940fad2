//! Ends trees on threads of their own: examining all processes takes milliseconds, and a grace period takes its full length.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::sys::{Errno, lock};
use crate::tree::Tree;

/// First and last pause between checks for the ends of processes.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// Max wait, at the exit of this process, for signals that have not been sent.
const MAX_FLUSH: Duration = Duration::from_secs(10);

/// A signal for a whole tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeSignal {
    pub signal: i32,
    /// Time for the processes to end before they are killed.
    pub grace: Duration,
}

/// The trees being terminated, by their children, and the signals not sent yet.
#[derive(Default)]
pub(crate) struct Killer {
    requests: Mutex<HashMap<u64, VecDeque<TreeSignal>>>,
    changed: Condvar,
}

impl Killer {
    /// Ends a tree: `on_end` is called on another thread once it has ended. A tree already being terminated receives the signal
    /// as well, without a further `on_end`.
    pub fn end(
        &'static self,
        id: u64,
        tree: impl FnOnce() -> Tree + Send + 'static,
        request: TreeSignal,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<(), Errno> {
        let mut requests = lock(&self.requests);
        if let Some(waiting) = requests.get_mut(&id) {
            waiting.push_back(request);
            self.changed.notify_all();
            return Ok(());
        }
        requests.insert(id, VecDeque::from([request]));
        let started = thread::Builder::new()
            .name("spawn-killer".into())
            .stack_size(256 * 1024)
            .spawn(move || {
                crate::sys::block_signals();
                self.run(id, tree());
                on_end();
            });
        started.map(drop).map_err(|error| {
            requests.remove(&id);
            error.raw_os_error().unwrap_or(libc::EAGAIN)
        })
    }

    /// Blocks until every requested signal has been sent.
    pub fn flush(&self) {
        let _ = self
            .changed
            .wait_timeout_while(lock(&self.requests), MAX_FLUSH, |requests| {
                requests.values().any(|waiting| !waiting.is_empty())
            });
    }

    fn run(&self, id: u64, mut tree: Tree) {
        let mut deadline = None;
        let mut pause = PAUSES.0;
        loop {
            let next = lock(&self.requests)[&id].front().copied();
            if let Some(request) = next {
                pause = PAUSES.0;
                deadline = Some(signal_tree(&mut tree, request, deadline));
                lock(&self.requests).entry(id).or_default().pop_front();
                self.changed.notify_all();
            }
            let is_over = is_over(&mut tree, deadline);
            let mut requests = lock(&self.requests);
            if requests[&id].is_empty() {
                if is_over {
                    requests.remove(&id);
                    return;
                }
                let is_idle =
                    |requests: &mut HashMap<u64, VecDeque<TreeSignal>>| requests[&id].is_empty();
                let _ = self
                    .changed
                    .wait_timeout_while(requests, pause, is_idle)
                    .unwrap_or_else(PoisonError::into_inner);
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}

/// Ends a tree on the calling thread.
pub(crate) fn end_now(mut tree: Tree, request: TreeSignal) {
    let deadline = Some(signal_tree(&mut tree, request, None));
    let mut pause = PAUSES.0;
    while !is_over(&mut tree, deadline) {
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// Sends the signal. Processes still running at the returned time are killed.
fn signal_tree(tree: &mut Tree, request: TreeSignal, before: Option<Instant>) -> Instant {
    if request.signal == libc::SIGKILL {
        return Instant::now();
    }
    tree.signal(request.signal);
    let end = Instant::now() + request.grace;
    before.map_or(end, |before| before.min(end))
}

fn is_over(tree: &mut Tree, deadline: Option<Instant>) -> bool {
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        tree.kill();
        return true;
    }
    !tree.is_alive()
}
