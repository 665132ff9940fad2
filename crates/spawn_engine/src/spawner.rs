//! The threads that start programs, one after the other each.
//!
//! They never end: PR_SET_PDEATHSIG in a child follows the thread that made it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::child::Child;
use crate::command::Command;
use crate::engine::Engine;
use crate::guarded_stack::GuardedStack;
use crate::launch::launch;
use crate::sys::{self, lock};

pub(crate) struct Job {
    pub command: Command,
    pub child: Arc<Child>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Queued, or being started.
    pending: usize,
}

#[derive(Default)]
pub(crate) struct Spawner {
    queue: Mutex<Queue>,
    filled: Condvar,
    emptied: Condvar,
}

impl Spawner {
    pub fn push(&self, job: Job) {
        let mut queue = lock(&self.queue);
        queue.jobs.push_back(job);
        queue.pending += 1;
        drop(queue);
        self.filled.notify_one();
    }

    /// Blocks until everything asked for before has been started or has failed.
    pub fn flush(&self) {
        let _queue = self
            .emptied
            .wait_while(lock(&self.queue), |queue| queue.pending > 0)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// The body of a spawner thread.
    pub fn run(&self, engine: &Engine, stack: &GuardedStack) -> ! {
        sys::block_signals();
        loop {
            let Job { mut command, child } = self.next();
            let result = launch(&command, stack);
            if result.is_ok() {
                // The end of a stream is the child's doing alone, and comes with its exit.
                command.far_ends.clear();
            }
            // Whoever reads the near ends elsewhere hears of a failure before the streams end.
            child.settle(result, &engine.epoll);
            drop(command);
            engine.forget_if_over(&child);
            drop(child);
            let mut queue = lock(&self.queue);
            queue.pending -= 1;
            if queue.pending == 0 {
                self.emptied.notify_all();
            }
        }
    }

    fn next(&self) -> Job {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return job;
            }
            queue = self
                .filled
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
