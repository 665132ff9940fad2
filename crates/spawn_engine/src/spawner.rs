//! The threads that start programs, one after the other each.
//!
//! They never end: PR_SET_PDEATHSIG in a child follows the thread that created it.

use std::sync::Arc;

use crate::child::Child;
use crate::children::Children;
use crate::command::Command;
use crate::guarded_stack::GuardedStack;
use crate::launch::launch;
use crate::queue::Queue;
use crate::sys;

pub(crate) struct Job {
    pub command: Command,
    pub child: Arc<Child>,
}

#[derive(Default)]
pub(crate) struct Spawner(Queue<Job>);

impl Spawner {
    pub fn push(&self, owner: usize, job: Job) {
        self.0.push(owner, job);
    }

    /// Blocks until every earlier request, of `owner` or of all owners, has started or failed.
    pub fn flush(&self, owner: Option<usize>) {
        self.0.flush(owner);
    }

    /// Moves the child that a caller waits for to the front.
    pub fn prioritize(&self, id: u64) {
        self.0.prioritize(|job| job.child.id == id);
    }

    /// The body of a spawner thread.
    pub fn run(&self, children: &Children, stack: &GuardedStack) -> ! {
        sys::block_signals();
        loop {
            let (ticket, Job { mut command, child }) = self.0.next();
            if command.request.extras.is_measured() {
                child.mark_taken();
            }
            let result = child
                .open_pipes(&mut command.far_ends)
                .and_then(|()| launch(&command, stack));
            let far_ends = std::mem::take(&mut command.far_ends);
            drop(command);
            // A reader of the near ends on another thread learns of a failure before the streams end.
            child.finish_start(result, far_ends, &children.epoll);
            children.forget_if_over(&child);
            drop(child);
            self.0.done(ticket);
        }
    }
}
