//! One child, from the request to the last closed pipe.
//!
//! Every event is pushed while the child's lock is held, so a port sees them in the order they happened.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::event::Event;
use crate::inbox::Inbox;
use crate::launch::Launched;
use crate::stream::{FLOW_CREDIT, Found, Mode, Stream};
use crate::sys::{self, Epoll, Errno, lock};

/// The stream number that stands for the process itself in an epoll token.
pub(crate) const PROCESS: u8 = u8::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Running(i32),
    Failed(Errno),
    Exited(i32),
}

struct State {
    phase: Phase,
    pidfd: Option<OwnedFd>,
    streams: Vec<Stream>,
    announce: bool,
    /// Whether the port has been told how it ended: until then its facts can be asked for.
    is_known: bool,
}

pub(crate) struct Child {
    pub id: u64,
    pub inbox: Arc<Inbox>,
    state: Mutex<State>,
    settled: Condvar,
}

/// The epoll token of a stream of a child. Ids are never used twice, so a stale event finds nobody.
pub(crate) fn token(id: u64, stream: u8) -> u64 {
    (id << 8) | u64::from(stream)
}

impl Child {
    pub fn new(id: u64, inbox: Arc<Inbox>, streams: Vec<Stream>) -> Self {
        Self {
            id,
            inbox,
            state: Mutex::new(State {
                phase: Phase::Starting,
                pidfd: None,
                streams,
                announce: false,
                is_known: false,
            }),
            settled: Condvar::new(),
        }
    }

    /// The spawner's report.
    pub fn settle(&self, result: Result<Launched, Errno>, epoll: &Epoll) {
        let mut state = lock(&self.state);
        let told = match result {
            Ok(Launched { pid, pidfd }) => {
                state.phase = Phase::Running(pid);
                if state.announce {
                    self.inbox.push(Event::Started { id: self.id });
                }
                let _ = epoll.add(&pidfd, token(self.id, PROCESS));
                state.pidfd = Some(pidfd);
                state.announce
            }
            Err(error) => {
                state.phase = Phase::Failed(error);
                self.inbox.push(Event::Failed { id: self.id, error });
                true
            }
        };
        for index in 0..state.streams.len() {
            state.streams[index].arm(epoll, token(self.id, index as u8));
        }
        if self.inbox.is_closed() {
            close_all(&mut state, epoll);
        }
        drop(state);
        self.settled.notify_all();
        if told {
            self.inbox.wake();
        }
    }

    /// Blocks until the program runs or could not be started.
    pub fn wait_settled(&self) -> Result<i32, Errno> {
        match self.settled_state().phase {
            Phase::Failed(error) => Err(error),
            Phase::Running(pid) | Phase::Exited(pid) => Ok(pid),
            Phase::Starting => Err(libc::EAGAIN),
        }
    }

    fn settled_state(&self) -> MutexGuard<'_, State> {
        self.settled
            .wait_while(lock(&self.state), |state| state.phase == Phase::Starting)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the program runs already; if not, asks for [`Event::Started`].
    pub fn announce(&self) -> bool {
        let mut state = lock(&self.state);
        state.announce = true;
        matches!(state.phase, Phase::Running(_) | Phase::Exited(_))
    }

    /// Signals the process once it runs. One that ended but whose exit nobody has seen yet is a success, as
    /// signalling a zombie is.
    pub fn kill(&self, signal: i32) -> Result<(), Errno> {
        let state = self.settled_state();
        match (&state.pidfd, state.phase) {
            (Some(pidfd), _) => sys::send_signal(pidfd, signal),
            (None, Phase::Exited(_)) => Ok(()),
            (None, _) => Err(libc::ESRCH),
        }
    }

    /// Lets a stream run up to [`FLOW_CREDIT`] bytes ahead of its reader, counted from now.
    pub fn flow(&self, index: u8, epoll: &Epoll) {
        let mut state = lock(&self.state);
        let started = state.phase != Phase::Starting;
        if let Some(stream) = state.streams.get_mut(usize::from(index)) {
            stream.mode = Mode::Flow {
                credit: FLOW_CREDIT,
            };
            if started {
                stream.arm(epoll, token(self.id, index));
            }
        }
    }

    /// Stops collecting: what there is so far, and whether that is all there will be.
    pub fn uncollect(&self, index: u8, epoll: &Epoll) -> (Vec<u8>, bool) {
        let mut state = lock(&self.state);
        let Some(stream) = state.streams.get_mut(usize::from(index)) else {
            return (Vec::new(), true);
        };
        stream.disarm(epoll);
        let mut bytes = match std::mem::replace(&mut stream.mode, Mode::Idle) {
            Mode::Collect { bytes, .. } => bytes,
            _ => Vec::new(),
        };
        self.append_unseen(index, &mut bytes);
        (bytes, stream.fd.is_none())
    }

    /// Gives a stream away: its descriptor unless it has ended, and the bytes read but not seen yet.
    pub fn take(&self, index: u8, epoll: &Epoll) -> (Option<OwnedFd>, Vec<u8>) {
        let mut state = lock(&self.state);
        let mut bytes = Vec::new();
        let fd = state
            .streams
            .get_mut(usize::from(index))
            .and_then(|stream| stream.take(epoll));
        self.append_unseen(index, &mut bytes);
        (fd, bytes)
    }

    fn append_unseen(&self, index: u8, into: &mut Vec<u8>) {
        for event in self.inbox.take_of(self.id, index) {
            if let Event::Data { bytes, .. }
            | Event::Ended { bytes, .. }
            | Event::Overflowed { bytes, .. } = event
            {
                into.extend_from_slice(&bytes);
            }
        }
    }

    /// Closes a stream nobody reads any more.
    pub fn close(&self, index: u8, epoll: &Epoll) {
        let mut state = lock(&self.state);
        if let Some(stream) = state.streams.get_mut(usize::from(index)) {
            drop(stream.take(epoll));
        }
    }

    /// After the exit: closes stdin and empties the streams nobody touched. How many of those are at their end
    /// already; the others report it.
    pub fn drain(&self, epoll: &Epoll) -> u32 {
        let mut state = lock(&self.state);
        let mut ended = 0;
        let mut scratch = Vec::with_capacity(4096);
        for (index, stream) in state.streams.iter_mut().enumerate() {
            if stream.fd.is_none() || !matches!(stream.mode, Mode::Idle) {
                continue;
            }
            if index == 0 {
                drop(stream.take(epoll));
                continue;
            }
            stream.mode = Mode::Drain;
            match stream.look(epoll, &mut scratch) {
                Found::End { .. } => ended += 1,
                _ => stream.arm(epoll, token(self.id, index as u8)),
            }
        }
        ended
    }

    /// The reactor saw something on a stream. Whether the port must be woken.
    pub fn on_readable(&self, index: u8, epoll: &Epoll, scratch: &mut Vec<u8>) -> bool {
        let mut state = lock(&self.state);
        let running = matches!(state.phase, Phase::Running(_));
        let Some(stream) = state.streams.get_mut(usize::from(index)) else {
            return false;
        };
        let collected = matches!(stream.mode, Mode::Collect { .. });
        let found = stream.look(epoll, scratch);
        // What was collected is of no use before the exit, which is about to come.
        let silent = collected && running && matches!(found, Found::End { .. });
        self.report(index, found) && !silent
    }

    fn report(&self, stream: u8, found: Found) -> bool {
        let id = self.id;
        self.inbox.push(match found {
            Found::Nothing => return false,
            Found::Data(bytes) => Event::Data { id, stream, bytes },
            Found::Overflow(bytes) => Event::Overflowed { id, stream, bytes },
            Found::End { bytes, error } => Event::Ended {
                id,
                stream,
                bytes,
                error,
            },
        });
        true
    }

    /// The reactor saw the process end. Whether it did.
    pub fn on_exit(&self, epoll: &Epoll, scratch: &mut Vec<u8>) -> bool {
        let mut state = lock(&self.state);
        let Some(pidfd) = &state.pidfd else {
            return false;
        };
        let status = match sys::reap(pidfd, false) {
            Ok(None) => return false,
            Ok(Some(status)) => status,
            // Somebody else in this process waited for every child: the status is lost, the exit is not.
            Err(_) => sys::Status { code: 0, signal: 0 },
        };
        epoll.remove(pidfd);
        state.pidfd = None;
        let Phase::Running(pid) = state.phase else {
            return false;
        };
        state.phase = Phase::Exited(pid);
        for index in 0..state.streams.len() {
            while matches!(state.streams[index].mode, Mode::Collect { .. }) {
                let before = collected_bytes(&state.streams[index]);
                let found = state.streams[index].look(epoll, scratch);
                let more =
                    found == Found::Nothing && collected_bytes(&state.streams[index]) > before;
                self.report(index as u8, found);
                if !more {
                    break;
                }
            }
        }
        self.inbox.push(Event::Exited {
            id: self.id,
            pid,
            code: status.code,
            signal: status.signal,
        });
        true
    }

    /// Whether the process has ended, told or not.
    pub fn has_ended(&self) -> bool {
        let state = lock(&self.state);
        match (&state.pidfd, state.phase) {
            (Some(pidfd), Phase::Running(_)) => sys::is_readable(pidfd),
            (_, phase) => matches!(phase, Phase::Exited(_)),
        }
    }

    /// Whether nothing can happen to this child any more.
    pub fn is_over(&self) -> bool {
        let state = lock(&self.state);
        state.is_known
            && matches!(state.phase, Phase::Failed(_) | Phase::Exited(_))
            && state.streams.iter().all(|stream| stream.fd.is_none())
    }

    /// The port has been told how it ended.
    pub fn acknowledge(&self) {
        lock(&self.state).is_known = true;
    }

    /// The port is gone, or will hear nothing of this child: nobody reads or writes the pipes.
    pub fn abandon(&self, epoll: &Epoll) {
        close_all(&mut lock(&self.state), epoll);
    }
}

fn collected_bytes(stream: &Stream) -> usize {
    match &stream.mode {
        Mode::Collect { bytes, .. } => bytes.len(),
        _ => 0,
    }
}

fn close_all(state: &mut State, epoll: &Epoll) {
    state.is_known = true;
    for stream in &mut state.streams {
        drop(stream.take(epoll));
    }
}
