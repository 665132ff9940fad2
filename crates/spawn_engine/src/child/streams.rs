//! A child's streams: opened, watched, read, handed over, closed.

use std::os::fd::{AsRawFd, OwnedFd};

use super::{Child, Phase, State, token};
use crate::block;
use crate::event::{Event, Wake};
use crate::stream::{FLOW_CREDIT, Found, Mode, Stream};
use crate::sys::{self, Epoll, Errno, lock};

/// Less than a pipe holds by default.
const DEFAULT_BUFFER: usize = 128 * 1024;

impl Child {
    /// Creates the pipes that do not exist yet, and hands out the child's ends.
    pub fn open_pipes(&self, far_ends: &mut [Option<OwnedFd>]) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        for (stream, far_end) in state.streams.iter_mut().zip(far_ends) {
            stream.create()?;
            if let Some(far) = stream.far.take() {
                *far_end = Some(far);
            }
        }
        Ok(())
    }

    /// Starts watching a stream of a child whose start is finished. Returns true if the port must be woken.
    pub(super) fn arm(&self, state: &mut State, index: u16, epoll: &Epoll) -> bool {
        let stream = &mut state.streams[usize::from(index)];
        // Nothing is ever read from stdin.
        if index > 0 {
            stream.watch_end(epoll, token(self.id, index));
        }
        // The child never existed: its pipe has no far end.
        let found = if stream.wants_reading() && stream.cancel() {
            Found::End {
                bytes: Vec::new(),
                error: 0,
            }
        } else {
            stream.arm(epoll, token(self.id, index))
        };
        self.report(index, found)
    }

    /// Allows a stream to run up to [`FLOW_CREDIT`] bytes ahead of its reader, counted from now.
    pub fn flow(&self, index: u16, epoll: &Epoll) {
        let mut state = lock(&self.state);
        let started = state.phase != Phase::Starting;
        let Some(stream) = state.streams.get_mut(usize::from(index)) else {
            return;
        };
        let is_first = matches!(stream.mode, Mode::Idle);
        stream.mode = Mode::Flow {
            credit: FLOW_CREDIT,
        };
        let mut must_wake = false;
        if is_first && matches!(state.phase, Phase::Exited(_) | Phase::Failed(_)) {
            must_wake = self.read_late(&mut state, index, epoll);
        }
        must_wake |= started && self.arm(&mut state, index, epoll);
        if must_wake {
            drop(state);
            self.inbox.wake();
        }
    }

    /// Reads a stream that is requested after the process has ended, or failed to start, on the thread that learns of it: the
    /// output, or its absence, comes before the exit, as in a loop that handles signals last, however busy the machine is.
    fn read_late(&self, state: &mut State, index: u16, epoll: &Epoll) -> bool {
        let mut scratch = block::take();
        let found = state.streams[usize::from(index)].read_once(epoll, &mut scratch);
        block::recycle(scratch);
        let Some(event) = self.event_of(index, found) else {
            return false;
        };
        self.push_output(event);
        true
    }

    fn push_data(&self, stream: u16, bytes: Vec<u8>) {
        let id = self.id;
        self.push_output(Event::Data { id, stream, bytes });
    }

    /// Pushes output before the exit, unless the port has taken the exit already.
    fn push_output(&self, event: Event) {
        if let Some(event) = self.inbox.push_before_exit(self.id, event) {
            self.inbox.push(event);
        }
    }

    /// Stops collecting. Returns the bytes so far, and true if the stream has ended. With `is_unseen`, the bytes come as an event
    /// instead, for a loop that has not looked for them.
    pub fn uncollect(&self, index: u16, is_unseen: bool, epoll: &Epoll) -> (Vec<u8>, bool) {
        let mut state = lock(&self.state);
        let Some(stream) = state.streams.get_mut(usize::from(index)) else {
            return (Vec::new(), true);
        };
        stream.disarm(epoll);
        let mut bytes = match std::mem::replace(&mut stream.mode, Mode::Idle) {
            Mode::Collect { bytes, .. } => bytes,
            _ => Vec::new(),
        };
        let has_ended = stream.has_ended();
        let unseen = self.inbox.take_unseen(self.id, index);
        bytes.extend_from_slice(&unseen.bytes);
        if is_unseen && unseen.is_too_much {
            self.collect_others(&mut state, epoll);
        }
        if is_unseen && !bytes.is_empty() {
            self.push_data(index, std::mem::take(&mut bytes));
            drop(state);
            self.inbox.wake();
        }
        (bytes, has_ended)
    }

    /// Continues reading the other collected streams: the overflow of one of them was not reported, and will not be.
    fn collect_others(&self, state: &mut State, epoll: &Epoll) {
        state.is_overflowed = false;
        let has_exited = matches!(state.phase, Phase::Exited(_));
        let mut scratch = block::take();
        for index in 0..state.streams.len() {
            if has_exited {
                self.collect_rest(state, index, epoll, &mut scratch);
            }
            if matches!(state.streams[index].mode, Mode::Collect { .. }) && !state.is_overflowed {
                self.arm(state, index as u16, epoll);
            }
        }
        block::recycle(scratch);
    }

    /// Collects, after the exit, the bytes now in a collected stream.
    pub(super) fn collect_rest(
        &self,
        state: &mut State,
        index: usize,
        epoll: &Epoll,
        scratch: &mut Vec<u8>,
    ) {
        while !state.is_overflowed && matches!(state.streams[index].mode, Mode::Collect { .. }) {
            let before = collected_bytes(&state.streams[index]);
            let found = self.read_once(state, index, epoll, scratch);
            let more = found == Found::Nothing && collected_bytes(&state.streams[index]) > before;
            if let Some(event) = self.event_of(index as u16, found) {
                self.push_output(event);
            }
            if !more {
                break;
            }
        }
    }

    /// Hands over a stream: its descriptor, and the bytes read but not delivered yet. For an output that has ended, returns a
    /// descriptor with these bytes before its end, for the caller to read or pass on: its end has not been reported yet.
    pub fn take(&self, index: u16, epoll: &Epoll) -> (Option<OwnedFd>, Vec<u8>) {
        let mut state = lock(&self.state);
        let has_failed = matches!(state.phase, Phase::Failed(_));
        let fd = state.created(index).and_then(|stream| stream.take(epoll));
        let unseen = self.inbox.take_unseen(self.id, index);
        if fd.is_none() && (has_failed || index > 0) {
            return ended_pipe(unseen.bytes);
        }
        (fd, unseen.bytes)
    }

    /// Closes a stream after its last read.
    pub fn close(&self, index: u16, epoll: &Epoll) {
        let mut state = lock(&self.state);
        if let Some(stream) = state.created(index) {
            drop(stream.take(epoll));
        }
    }

    /// Shuts down the pipes: their contents can be read, and then they are at their end, because no process of the child's tree
    /// is left to write to them.
    pub fn hang_up(&self) {
        for stream in &lock(&self.state).streams {
            if let Some(fd) = &stream.fd {
                sys::hang_up(fd.as_raw_fd());
            }
        }
    }

    /// Returns true if an unread stream is empty and can receive nothing more.
    pub fn is_at_end(&self, index: u16) -> bool {
        let state = lock(&self.state);
        let stream = state.streams.get(usize::from(index));
        stream.is_some_and(Stream::is_at_end)
    }

    /// Returns true if a stream ended without a byte, and a loop that had looked `looks` times would have seen that.
    pub fn is_end_seen(&self, index: u16, looks: u64) -> bool {
        let state = lock(&self.state);
        let stream = state.streams.get(usize::from(index));
        stream.is_some_and(|stream| stream.is_end_seen(looks))
    }

    /// Returns true if no process holds the child's end of a stream any longer, even if bytes remain to be read.
    pub fn has_hung_up(&self, index: u16) -> bool {
        let state = lock(&self.state);
        let stream = state.streams.get(usize::from(index));
        stream.is_none_or(Stream::has_hung_up)
    }

    /// After the exit: closes stdin and drains the untouched streams. Returns the number of bytes discarded for each stream that
    /// has ended, and `None` for those that have not: they report their end later.
    pub fn drain(&self, epoll: &Epoll) -> Vec<Option<u64>> {
        let mut state = lock(&self.state);
        let mut scratch = Vec::with_capacity(4096);
        let streams = state.streams.iter_mut().enumerate();
        streams
            .map(|(index, stream)| {
                if stream.cancel() || stream.fd.is_none() || !matches!(stream.mode, Mode::Idle) {
                    return Some(0);
                }
                if index == 0 {
                    drop(stream.take(epoll));
                    return Some(0);
                }
                stream.drain(epoll, token(self.id, index as u16), &mut scratch)
            })
            .collect()
    }

    /// Keeps what comes out of a stream from now on. Returns the number of bytes discarded before.
    pub fn stop_draining(&self, index: u16, epoll: &Epoll) -> u64 {
        let mut state = lock(&self.state);
        let stream = state.streams.get_mut(usize::from(index));
        stream.map_or(0, |stream| stream.stop_draining(epoll))
    }

    /// Handles readiness of a stream seen by the reactor.
    pub fn on_readable(&self, index: u16, epoll: &Epoll, scratch: &mut Vec<u8>) -> Wake {
        let mut state = lock(&self.state);
        let running = matches!(state.phase, Phase::Running(_));
        let Some(stream) = state.streams.get_mut(usize::from(index)) else {
            return Wake::Never;
        };
        // Not requested yet, or released meanwhile: its bytes belong to the next reader.
        if !stream.is_armed() {
            if stream.is_at_end() {
                stream.note_end(self.inbox.looks());
                return Wake::Soon;
            }
            return Wake::Never;
        }
        let collected = matches!(stream.mode, Mode::Collect { .. });
        // Both were readable: the first exceeded its limit, and as with Node that closed the other.
        if collected && state.is_overflowed {
            return Wake::Never;
        }
        let found = self.read_once(&mut state, usize::from(index), epoll, scratch);
        // Collected output is not needed before the exit, which is about to come.
        let is_silent = collected && running && matches!(found, Found::End { .. });
        match self.report(index, found) {
            true if is_silent => Wake::Soon,
            true => Wake::Now,
            false => Wake::Never,
        }
    }

    /// Reads a stream once, and notes its end.
    fn read_once(
        &self,
        state: &mut State,
        index: usize,
        epoll: &Epoll,
        scratch: &mut Vec<u8>,
    ) -> Found {
        let found = state.read_once(index, epoll, scratch);
        if matches!(&found, Found::End { bytes, .. } if bytes.is_empty()) {
            state.streams[index].note_end(self.inbox.looks());
        }
        found
    }

    pub(super) fn report(&self, stream: u16, found: Found) -> bool {
        let Some(event) = self.event_of(stream, found) else {
            return false;
        };
        self.inbox.push(event);
        true
    }

    fn event_of(&self, stream: u16, found: Found) -> Option<Event> {
        let id = self.id;
        Some(match found {
            Found::Nothing => return None,
            Found::Data(bytes) => Event::Data { id, stream, bytes },
            Found::Overflow(bytes) => Event::Overflowed { id, stream, bytes },
            Found::End { bytes, error } => Event::Ended {
                id,
                stream,
                bytes,
                error,
            },
            Found::Drained { bytes } => Event::Drained { id, stream, bytes },
        })
    }
}

/// Creates a pipe with these bytes before its end. Returns the bytes beside an empty pipe if it cannot hold all of them: a part of them
/// would come twice.
pub(crate) fn ended_pipe(bytes: Vec<u8>) -> (Option<OwnedFd>, Vec<u8>) {
    let Ok((near, far)) = sys::socket_pair() else {
        return (None, bytes);
    };
    if bytes.len() > DEFAULT_BUFFER {
        sys::buffer_sending(&far, bytes.len().try_into().unwrap_or(i32::MAX));
    }
    if sys::send(&far, &bytes) == Ok(bytes.len()) {
        return (Some(near), Vec::new());
    }
    (sys::socket_pair().ok().map(|(near, _)| near), bytes)
}

fn collected_bytes(stream: &Stream) -> usize {
    match &stream.mode {
        Mode::Collect { bytes, .. } => bytes.len(),
        _ => 0,
    }
}

impl State {
    /// Returns a stream, with its pipe created if possible.
    fn created(&mut self, index: u16) -> Option<&mut Stream> {
        let stream = self.streams.get_mut(usize::from(index))?;
        if stream.create().is_err() {
            stream.cancel();
        }
        if self.is_cut_off {
            stream.far = None;
        }
        Some(stream)
    }

    /// Reads a stream once. An overflow is reported to the port, and closes the other collected streams too: Node does so at
    /// once, so their later output is not collected.
    pub(super) fn read_once(
        &mut self,
        index: usize,
        epoll: &Epoll,
        scratch: &mut Vec<u8>,
    ) -> Found {
        let found = self.streams[index].read_once(epoll, scratch);
        if matches!(found, Found::Overflow(_)) {
            self.is_overflowed = true;
            for stream in &mut self.streams {
                if matches!(stream.mode, Mode::Collect { .. }) {
                    stream.disarm(epoll);
                }
            }
        }
        found
    }

    pub(super) fn cut_off(&mut self) {
        if !matches!(self.phase, Phase::Failed(_)) {
            return;
        }
        self.is_cut_off = true;
        for stream in &mut self.streams {
            stream.far = None;
        }
    }
}

pub(super) fn close_all(state: &mut State, epoll: &Epoll) {
    state.is_known = true;
    // A child that has yet to be started gets its pipes, closed at this end.
    let is_starting = state.phase == Phase::Starting;
    for index in 0..state.streams.len() {
        if is_starting {
            state.created(index as u16);
        } else {
            state.streams[index].cancel();
            state.streams[index].far = None;
        }
        drop(state.streams[index].take(epoll));
    }
}
