//! One child, from the request to its exit; its pipes are in `streams`.
//!
//! Every event is pushed while the child's lock is held, so a port receives them in the order they happened.

mod streams;

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::command::StdioFds;
use crate::event::{Event, Wake};
use crate::group::Group;
use crate::inbox::Inbox;
use crate::launch::Launched;
use crate::measure::{self, Figures, Times, Usage};
use crate::request::Extras;
use crate::stream::{Mode, Stream};
use crate::sys::{self, Epoll, Errno, lock};
use crate::tree;

use streams::close_all;
pub(crate) use streams::ended_pipe;

/// The stream number that stands for the process itself in an epoll token.
pub(crate) const PROCESS: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Running(i32),
    Failed(Errno),
    Exited(i32),
}

struct State {
    phase: Phase,
    /// Shared with the threads that end its tree: a copy would need a descriptor, which may be in short supply.
    pidfd: Option<Arc<OwnedFd>>,
    streams: Vec<Stream>,
    announce: bool,
    /// True if the pipes of a child that failed are at their end.
    is_cut_off: bool,
    /// True if a collected stream exceeded its limit: none of them is read any further.
    is_overflowed: bool,
    /// The port's count of looks at its own descriptors when the end was seen.
    ended_at: u64,
    /// True once the port has learned how the child ended: until then its facts can be queried.
    is_known: bool,
    measured: Option<Box<Measured>>,
}

/// The figures collected so far, and the request for them.
struct Measured {
    figures: Figures,
    floor_kib: u64,
    extras: Extras,
}

pub(crate) struct Child {
    pub id: u64,
    pub inbox: Arc<Inbox>,
    /// Its descendants carry a mark that identifies them.
    pub is_tree: bool,
    state: Mutex<State>,
    start_finished: Condvar,
}

impl Measured {
    /// Starts the figures of a request that arrives now.
    fn new(extras: Extras) -> Self {
        let times = Times {
            queued: measure::now(),
            ..Times::default()
        };
        Self {
            figures: Figures { times, usage: None },
            floor_kib: 0,
            extras,
        }
    }
}

/// Returns the epoll token of a child's stream. Ids are never reused, so a stale event matches no child.
pub(crate) fn token(id: u64, stream: u16) -> u64 {
    (id << 16) | u64::from(stream)
}

impl Child {
    pub fn new(id: u64, inbox: Arc<Inbox>, streams: Vec<Stream>, extras: Extras) -> Self {
        Self {
            id,
            is_tree: extras.tree,
            inbox,
            state: Mutex::new(State {
                phase: Phase::Starting,
                pidfd: None,
                streams,
                announce: false,
                is_cut_off: false,
                is_overflowed: false,
                ended_at: 0,
                is_known: false,
                measured: extras
                    .is_measured()
                    .then(|| Box::new(Measured::new(extras))),
            }),
            start_finished: Condvar::new(),
        }
    }

    /// Notes that a spawner begins with the child.
    pub fn mark_taken(&self) {
        if let Some(measured) = &mut lock(&self.state).measured {
            measured.figures.times.taken = measure::now();
        }
    }

    fn push_measured(&self, state: &State) {
        if let Some(measured) = &state.measured {
            self.inbox.push(Event::Measured {
                id: self.id,
                figures: Box::new(measured.figures),
            });
        }
    }

    /// Takes the spawner's report. `far_ends` of a child that failed stay open until its port has handled the failure: writes to
    /// its stdin until then must not meet a closed pipe.
    pub fn finish_start(&self, result: Result<Launched, Errno>, far_ends: StdioFds, epoll: &Epoll) {
        let mut state = lock(&self.state);
        let mut must_wake = match result {
            Ok(Launched {
                pid,
                pidfd,
                floor_kib,
            }) => {
                // The end of a stream depends on the child alone, and comes with its exit.
                drop(far_ends);
                state.phase = Phase::Running(pid);
                let is_timed = self.record_started(&mut state, floor_kib);
                if state.announce {
                    self.inbox.push(Event::Started { id: self.id });
                }
                let watched = epoll.add(&pidfd, libc::EPOLLIN, token(self.id, PROCESS));
                state.pidfd = Some(Arc::new(pidfd));
                match watched {
                    Ok(()) => state.announce || is_timed,
                    Err(error) => {
                        self.push_lost(&mut state, pid, error);
                        true
                    }
                }
            }
            Err(error) => {
                state.phase = Phase::Failed(error);
                self.record_ended(&mut state, None);
                self.inbox.push(Event::Failed { id: self.id, error });
                for (stream, far_end) in state.streams.iter_mut().zip(far_ends) {
                    stream.far = far_end.or(stream.far.take());
                }
                true
            }
        };
        for index in 0..state.streams.len() {
            must_wake |= self.arm(&mut state, index as u16, epoll);
        }
        if self.inbox.is_closed() {
            close_all(&mut state, epoll);
        }
        drop(state);
        self.start_finished.notify_all();
        if must_wake {
            self.inbox.wake();
        }
    }

    /// Notes that the program runs. Returns true if the port must be notified of the time.
    fn record_started(&self, state: &mut State, floor_kib: u64) -> bool {
        let Some(measured) = &mut state.measured else {
            return false;
        };
        measured.floor_kib = floor_kib;
        measured.figures.times.started = measure::now();
        let is_timed = measured.extras.times;
        if is_timed {
            self.push_measured(state);
        }
        is_timed
    }

    /// Notes the end, just before it is reported.
    fn record_ended(&self, state: &mut State, usage: Option<&libc::rusage>) {
        if let Some(measured) = &mut state.measured {
            measured.figures.times.ended = measure::now();
            measured.figures.usage = usage
                .filter(|_| measured.extras.usage)
                .map(|usage| Usage::new(usage, measured.floor_kib));
            self.push_measured(state);
        }
    }

    fn push_lost(&self, state: &mut State, pid: i32, error: Errno) {
        state.phase = Phase::Exited(pid);
        self.inbox.push(Event::Lost {
            id: self.id,
            pid,
            error,
        });
    }

    /// Returns true once the outcome of the start is known.
    pub fn is_start_finished(&self) -> bool {
        lock(&self.state).phase != Phase::Starting
    }

    /// Blocks until the program runs, or could not be started.
    pub fn wait_start_finished(&self) -> Result<i32, Errno> {
        match self.state_after_start().phase {
            Phase::Failed(error) => Err(error),
            Phase::Running(pid) | Phase::Exited(pid) => Ok(pid),
            Phase::Starting => Err(libc::EAGAIN),
        }
    }

    fn state_after_start(&self) -> MutexGuard<'_, State> {
        self.start_finished
            .wait_while(lock(&self.state), |state| state.phase == Phase::Starting)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the program runs already; otherwise requests [`Event::Started`].
    pub fn announce(&self) -> bool {
        let mut state = lock(&self.state);
        state.announce = true;
        matches!(state.phase, Phase::Running(_) | Phase::Exited(_))
    }

    /// Signals the process once it runs. Succeeds if the process has ended but its exit has not been reported yet, as signalling
    /// a zombie does.
    pub fn kill(&self, signal: i32) -> Result<(), Errno> {
        let state = self.state_after_start();
        match (&state.pidfd, state.phase) {
            (Some(pidfd), _) => sys::send_signal(pidfd, signal),
            (None, Phase::Exited(_)) => Ok(()),
            (None, _) => Err(libc::ESRCH),
        }
    }

    /// Returns a pidfd of the process, as long as it has not been reaped.
    pub fn process(&self) -> Option<Arc<OwnedFd>> {
        self.state_after_start().pidfd.clone()
    }

    /// Handles a possible exit seen by the reactor.
    pub fn on_exit(&self, epoll: &Epoll, scratch: &mut Vec<u8>) -> Wake {
        // Read after the end: a look that the port begins later finds everything that the process left.
        let looks = self.inbox.looks();
        let mut state = lock(&self.state);
        let Some(pidfd) = &state.pidfd else {
            return Wake::Never;
        };
        let mut usage = state
            .measured
            .is_some()
            // SAFETY: an all-zero `rusage` is valid.
            .then(|| unsafe { std::mem::zeroed::<libc::rusage>() });
        let status = match sys::reap_with(pidfd, false, usage.as_mut()) {
            Ok(None) => return Wake::Never,
            Ok(Some(status)) => Ok(status),
            // Other code in this process has waited for every child: the exit is known, its status is not.
            Err(error) => Err(error),
        };
        epoll.remove(pidfd);
        state.pidfd = None;
        state.ended_at = looks;
        if self.is_tree
            && let Some(group) = Group::find(&tree::name(self.id))
        {
            group.remove();
        }
        let Phase::Running(pid) = state.phase else {
            return Wake::Never;
        };
        state.phase = Phase::Exited(pid);
        for index in 0..state.streams.len() {
            self.collect_rest(&mut state, index, epoll, scratch);
            // Output comes before the exit, as in a loop that handles signals last.
            if matches!(state.streams[index].mode, Mode::Flow { credit } if credit > 0) {
                let found = state.streams[index].read_once(epoll, scratch);
                self.report(index as u16, found);
            }
        }
        self.record_ended(&mut state, usage.as_ref().filter(|_| status.is_ok()));
        match status {
            Ok(sys::Status { code, signal }) => self.inbox.push(Event::Exited {
                id: self.id,
                pid,
                code,
                signal,
            }),
            Err(error) => self.push_lost(&mut state, pid, error),
        }
        Wake::Now
    }

    /// Returns true if the process has ended, reported or not.
    pub fn has_ended(&self) -> bool {
        let state = lock(&self.state);
        match (&state.pidfd, state.phase) {
            (Some(pidfd), Phase::Running(_)) => sys::is_readable(pidfd.as_raw_fd()),
            (_, phase) => matches!(phase, Phase::Exited(_)),
        }
    }

    /// Returns true if its end was seen before the port's look number `looks` at its own descriptors.
    pub fn ended_before(&self, looks: u64) -> bool {
        lock(&self.state).ended_at < looks
    }

    /// Returns true if nothing further can happen to this child.
    pub fn is_over(&self) -> bool {
        let state = lock(&self.state);
        state.is_known
            && matches!(state.phase, Phase::Failed(_) | Phase::Exited(_))
            && state.streams.iter().all(Stream::has_ended)
    }

    /// Notes that the port has learned how the child ended.
    pub fn acknowledge(&self) {
        let mut state = lock(&self.state);
        state.is_known = true;
        state.cut_off();
    }

    /// Ends the streams of a child whose failure the caller knows already.
    pub fn cut_off(&self) {
        lock(&self.state).cut_off();
    }

    /// Closes the pipes: the port is closed, or receives no events of this child, so nothing reads or writes them.
    pub fn abandon(&self, epoll: &Epoll) {
        close_all(&mut lock(&self.state), epoll);
    }
}

#[cfg(test)]
mod tests;
