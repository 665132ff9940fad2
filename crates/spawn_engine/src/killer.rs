//! Ends trees on threads of their own: a look at all processes takes milliseconds, and a grace period as long as it takes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::sys::{Errno, lock};
use crate::tree::Tree;

/// How soon the ends of processes are looked for at first, and at last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// How long the end of this process waits for signals that have not been sent.
const FLUSH: Duration = Duration::from_secs(10);

/// A signal for a whole tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blow {
    pub signal: i32,
    /// How long the processes may take to end; then they are killed.
    pub grace: Duration,
}

/// The trees that are being ended, by their children, and the blows that have not been dealt.
#[derive(Default)]
pub(crate) struct Killer {
    blows: Mutex<HashMap<u64, VecDeque<Blow>>>,
    changed: Condvar,
}

impl Killer {
    /// Ends a tree: `on_end` is called on another thread once it has ended. One that is being ended already gets the blow as
    /// well, and no further `on_end`.
    pub fn end(
        &'static self,
        id: u64,
        tree: impl FnOnce() -> Tree + Send + 'static,
        blow: Blow,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<(), Errno> {
        let mut blows = lock(&self.blows);
        if let Some(waiting) = blows.get_mut(&id) {
            waiting.push_back(blow);
            self.changed.notify_all();
            return Ok(());
        }
        blows.insert(id, VecDeque::from([blow]));
        let started = thread::Builder::new()
            .name("spawn-killer".into())
            .stack_size(256 * 1024)
            .spawn(move || {
                crate::sys::block_signals();
                self.run(id, tree());
                on_end();
            });
        started.map(drop).map_err(|error| {
            blows.remove(&id);
            error.raw_os_error().unwrap_or(libc::EAGAIN)
        })
    }

    /// Blocks until every signal that was asked for has been sent.
    pub fn flush(&self) {
        let _ = self
            .changed
            .wait_timeout_while(lock(&self.blows), FLUSH, |blows| {
                blows.values().any(|waiting| !waiting.is_empty())
            });
    }

    fn run(&self, id: u64, mut tree: Tree) {
        let mut deadline = None;
        let mut pause = PAUSES.0;
        loop {
            let next = lock(&self.blows)[&id].front().copied();
            if let Some(blow) = next {
                pause = PAUSES.0;
                deadline = Some(deal(&mut tree, blow, deadline));
                lock(&self.blows).entry(id).or_default().pop_front();
                self.changed.notify_all();
            }
            let is_over = is_over(&mut tree, deadline);
            let mut blows = lock(&self.blows);
            if blows[&id].is_empty() {
                if is_over {
                    blows.remove(&id);
                    return;
                }
                let is_idle = |blows: &mut HashMap<u64, VecDeque<Blow>>| blows[&id].is_empty();
                let _ = self
                    .changed
                    .wait_timeout_while(blows, pause, is_idle)
                    .unwrap_or_else(PoisonError::into_inner);
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}

/// The same on the calling thread.
pub(crate) fn end_now(mut tree: Tree, blow: Blow) {
    let deadline = Some(deal(&mut tree, blow, None));
    let mut pause = PAUSES.0;
    while !is_over(&mut tree, deadline) {
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// Sends the signal. What still runs at the time that is returned is killed.
fn deal(tree: &mut Tree, blow: Blow, before: Option<Instant>) -> Instant {
    if blow.signal == libc::SIGKILL {
        return Instant::now();
    }
    tree.signal(blow.signal);
    let end = Instant::now() + blow.grace;
    before.map_or(end, |before| before.min(end))
}

fn is_over(tree: &mut Tree, deadline: Option<Instant>) -> bool {
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        tree.kill();
        return true;
    }
    !tree.is_alive()
}
