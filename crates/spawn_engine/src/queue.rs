//! Jobs in the order they were requested, and the callers that wait for them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::sys::lock;

struct Entry<T> {
    ticket: u64,
    owner: usize,
    job: T,
}

struct State<T> {
    waiting: VecDeque<Entry<T>>,
    /// Ticket and owner of the jobs taken but not done.
    under_way: Vec<(u64, usize)>,
    next_ticket: u64,
}

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    finished: Condvar,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                under_way: Vec::new(),
                next_ticket: 0,
            }),
            filled: Condvar::new(),
            finished: Condvar::new(),
        }
    }
}

impl<T> Queue<T> {
    pub fn push(&self, owner: usize, job: T) {
        let mut state = lock(&self.state);
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back(Entry { ticket, owner, job });
        drop(state);
        self.filled.notify_one();
    }

    /// Blocks until there is a job. Returns it with the ticket to hand to [`Queue::done`].
    pub fn next(&self) -> (u64, T) {
        let mut state = self
            .filled
            .wait_while(lock(&self.state), |state| state.waiting.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        let Entry { ticket, owner, job } = state.waiting.pop_front().expect("waited for");
        state.under_way.push((ticket, owner));
        (ticket, job)
    }

    pub fn done(&self, ticket: u64) {
        lock(&self.state)
            .under_way
            .retain(|(other, _)| *other != ticket);
        self.finished.notify_all();
    }

    /// Blocks until the earlier jobs are done, all of them or those of `owner`, which then precede the jobs of others. Later jobs
    /// are not waited for.
    pub fn flush(&self, owner: Option<usize>) {
        let mut state = lock(&self.state);
        if let Some(owner) = owner {
            state.move_to_front(|entry| entry.owner == owner);
        }
        let end = state.next_ticket;
        let is_meant =
            |ticket: u64, other: usize| ticket < end && owner.is_none_or(|owner| owner == other);
        let _state = self
            .finished
            .wait_while(state, |state| {
                let under_way = state.under_way.iter().copied();
                let waiting = state
                    .waiting
                    .iter()
                    .map(|entry| (entry.ticket, entry.owner));
                under_way
                    .chain(waiting)
                    .any(|(ticket, other)| is_meant(ticket, other))
            })
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// Moves the jobs that a caller waits for to the front.
    pub fn prioritize(&self, is_awaited: impl Fn(&T) -> bool) {
        lock(&self.state).move_to_front(|entry| is_awaited(&entry.job));
    }
}

impl<T> State<T> {
    fn move_to_front(&mut self, is_preferred: impl Fn(&Entry<T>) -> bool) {
        let (first, rest): (VecDeque<_>, VecDeque<_>) =
            self.waiting.drain(..).partition(is_preferred);
        self.waiting = first;
        self.waiting.extend(rest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_flush_waits_for_what_was_asked_for_before_it_and_for_nothing_else() {
        let queue = Arc::new(Queue::default());
        queue.push(1, "before");
        let (before, _) = queue.next();
        let (done, finished) = channel();
        let flushing = Arc::clone(&queue);
        thread::spawn(move || {
            flushing.flush(None);
            done.send(()).unwrap();
        });
        assert!(finished.recv_timeout(Duration::from_millis(50)).is_err());
        queue.push(1, "after");
        let (after, _) = queue.next();
        queue.done(before);
        finished.recv_timeout(Duration::from_secs(20)).unwrap();
        queue.done(after);
    }

    #[test]
    fn a_flush_of_one_owner_does_not_wait_for_others() {
        let queue = Queue::default();
        queue.push(1, "mine");
        queue.push(2, "another's");
        let (mine, _) = queue.next();
        queue.done(mine);
        queue.flush(Some(1));
    }

    #[test]
    fn what_somebody_waits_for_is_next() {
        let queue = Queue::default();
        for job in ["first", "second", "third"] {
            queue.push(1, job);
        }
        queue.prioritize(|job| *job == "second");
        assert_eq!(queue.next().1, "second");
        assert_eq!(queue.next().1, "first");
        assert_eq!(queue.next().1, "third");
    }
}
