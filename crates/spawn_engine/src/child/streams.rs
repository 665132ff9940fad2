//! A child's streams: made, watched, read, handed over, closed.

use std::os::fd::{AsRawFd, OwnedFd};

use super::{Child, Phase, State, token};
use crate::block;
use crate::event::Event;
use crate::stream::{FLOW_CREDIT, Found, Mode, Stream};
use crate::sys::{self, Epoll, Errno, lock};

impl Child {
    /// Makes the pipes that have not been made, and hands out the child's ends.
    pub fn open_pipes(&self, far_ends: &mut [Option<OwnedFd>]) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        for (stream, far_end) in state.streams.iter_mut().zip(far_ends) {
            stream.make()?;
            if let Some(far) = stream.far.take() {
                *far_end = Some(far);
            }
        }
        Ok(())
    }

    /// Has a stream of a settled child watched. Returns whether the port must be woken.
    pub(super) fn arm(&self, state: &mut State, index: u16, epoll: &Epoll) -> bool {
        let stream = &mut state.streams[usize::from(index)];
        // The child never existed: its pipe has no other end.
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

    /// Lets a stream run up to [`FLOW_CREDIT`] bytes ahead of its reader, counted from now.
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
        let mut told = false;
        if is_first && matches!(state.phase, Phase::Exited(_) | Phase::Failed(_)) {
            told = self.look_late(&mut state, index, epoll);
        }
        told |= started && self.arm(&mut state, index, epoll);
        if told {
            drop(state);
            self.inbox.wake();
        }
    }

    /// Requested after the process has ended, or failed to start, on the thread that learns of it: what was printed, or that nothing was, comes
    /// before the exit, as from a loop that looks at signals last, however busy the machine is.
    fn look_late(&self, state: &mut State, index: u16, epoll: &Epoll) -> bool {
        let mut scratch = block::take();
        let found = state.streams[usize::from(index)].look(epoll, &mut scratch);
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

    /// Output comes before the exit, unless the port has seen that.
    fn push_output(&self, event: Event) {
        if let Some(event) = self.inbox.push_before_exit(self.id, event) {
            self.inbox.push(event);
        }
    }

    /// Stops collecting: what there is so far, and whether that is all there will be. With `is_unseen`, the bytes come as an
    /// event instead, for a loop that has not looked for them.
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
        let was_too_much = self.append_unseen(index, &mut bytes);
        if is_unseen && was_too_much {
            self.collect_others(&mut state, epoll);
        }
        if is_unseen && !bytes.is_empty() {
            self.push_data(index, std::mem::take(&mut bytes));
            drop(state);
            self.inbox.wake();
        }
        (bytes, has_ended)
    }

    /// Reads the other collected streams on: that one of them had more than its limit was not reported, and will not be.
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

    /// After the exit: what is in a collected stream by now.
    pub(super) fn collect_rest(
        &self,
        state: &mut State,
        index: usize,
        epoll: &Epoll,
        scratch: &mut Vec<u8>,
    ) {
        while !state.is_overflowed && matches!(state.streams[index].mode, Mode::Collect { .. }) {
            let before = collected_bytes(&state.streams[index]);
            let found = state.look(index, epoll, scratch);
            let more = found == Found::Nothing && collected_bytes(&state.streams[index]) > before;
            if let Some(event) = self.event_of(index as u16, found) {
                self.push_output(event);
            }
            if !more {
                break;
            }
        }
    }

    /// Gives a stream away: its descriptor, and the bytes read but not seen yet. Of an output that has ended there is a descriptor
    /// with these bytes before its end, to be read by the caller or handed on: nobody has seen yet that it ended.
    pub fn take(&self, index: u16, epoll: &Epoll) -> (Option<OwnedFd>, Vec<u8>) {
        let mut state = lock(&self.state);
        let mut bytes = Vec::new();
        let has_failed = matches!(state.phase, Phase::Failed(_));
        let mut fd = state.make(index).and_then(|stream| stream.take(epoll));
        self.append_unseen(index, &mut bytes);
        if fd.is_none() && (has_failed || index > 0) {
            fd = sys::socket_pair().ok().map(|(near, far)| {
                // A child that has ended has left no more than its pipe holds, unless the bytes were collected meanwhile.
                if sys::send(&far, &bytes) == Ok(bytes.len()) {
                    bytes.clear();
                }
                near
            });
        }
        (fd, bytes)
    }

    /// Whether they were more than may be collected.
    fn append_unseen(&self, index: u16, into: &mut Vec<u8>) -> bool {
        let mut was_too_much = false;
        for event in self.inbox.take_of(self.id, index) {
            was_too_much |= matches!(event, Event::Overflowed { .. });
            if let Event::Data { bytes, .. }
            | Event::Ended { bytes, .. }
            | Event::Overflowed { bytes, .. } = event
            {
                into.extend_from_slice(&bytes);
            }
        }
        was_too_much
    }

    /// Closes a stream nobody reads any more.
    pub fn close(&self, index: u16, epoll: &Epoll) {
        let mut state = lock(&self.state);
        if let Some(stream) = state.make(index) {
            drop(stream.take(epoll));
        }
    }

    /// Whatever the pipes hold can be read, and then they are at their end: nobody is left whose output it could be.
    pub fn hang_up(&self) {
        for stream in &lock(&self.state).streams {
            if let Some(fd) = &stream.fd {
                sys::hang_up(fd.as_raw_fd());
            }
        }
    }

    /// Whether nothing is in a stream that nobody has read from, and nothing more can come.
    pub fn is_at_end(&self, index: u16) -> bool {
        let state = lock(&self.state);
        let stream = state.streams.get(usize::from(index));
        stream.is_some_and(Stream::is_at_end)
    }

    /// Whether nobody holds the child's end of a stream any more, whatever is left to be read.
    pub fn has_hung_up(&self, index: u16) -> bool {
        let state = lock(&self.state);
        let stream = state.streams.get(usize::from(index));
        stream.is_none_or(Stream::has_hung_up)
    }

    /// After the exit: closes stdin and empties the streams nobody touched. Those that have not ended are returned, and
    /// report their end.
    pub fn drain(&self, epoll: &Epoll) -> Vec<u32> {
        let mut state = lock(&self.state);
        let mut open = Vec::new();
        let mut scratch = Vec::with_capacity(4096);
        for (index, stream) in state.streams.iter_mut().enumerate() {
            if stream.cancel() || stream.fd.is_none() || !matches!(stream.mode, Mode::Idle) {
                continue;
            }
            if index == 0 {
                drop(stream.take(epoll));
                continue;
            }
            stream.mode = Mode::Drain;
            // The end of what printed a little is known in this turn of the loop, as libuv has it by then.
            let mut look = || matches!(stream.look(epoll, &mut scratch), Found::End { .. });
            if look() || look() || stream.arm(epoll, token(self.id, index as u16)) != Found::Nothing
            {
                continue;
            }
            open.push(index as u32);
        }
        open
    }

    /// The reactor saw something on a stream. Returns whether the port must be woken.
    pub fn on_readable(&self, index: u16, epoll: &Epoll, scratch: &mut Vec<u8>) -> bool {
        let mut state = lock(&self.state);
        let running = matches!(state.phase, Phase::Running(_));
        let Some(stream) = state.streams.get(usize::from(index)) else {
            return false;
        };
        // It was let go meanwhile: its bytes are for whoever reads it next.
        if !stream.is_armed() {
            return false;
        }
        let collected = matches!(stream.mode, Mode::Collect { .. });
        // Both were readable: the first had more than its limit, and as with Node that closed the other.
        if collected && state.is_overflowed {
            return false;
        }
        let found = state.look(usize::from(index), epoll, scratch);
        // What was collected is not needed before the exit, which is about to come.
        let silent = collected && running && matches!(found, Found::End { .. });
        self.report(index, found) && !silent
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
        })
    }
}

fn collected_bytes(stream: &Stream) -> usize {
    match &stream.mode {
        Mode::Collect { bytes, .. } => bytes.len(),
        _ => 0,
    }
}

impl State {
    /// A stream whose pipe is there if it can be.
    fn make(&mut self, index: u16) -> Option<&mut Stream> {
        let stream = self.streams.get_mut(usize::from(index))?;
        if stream.make().is_err() {
            stream.cancel();
        }
        if self.is_cut_off {
            stream.far = None;
        }
        Some(stream)
    }

    /// Reads a stream once. More than its limit is reported to the port, and closes the others too: as with Node, which does so
    /// at once, what comes out of them from now on is not collected.
    pub(super) fn look(&mut self, index: usize, epoll: &Epoll, scratch: &mut Vec<u8>) -> Found {
        let found = self.streams[index].look(epoll, scratch);
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
    // One that has yet to be started gets its pipes, closed at this end.
    let is_starting = state.phase == Phase::Starting;
    for index in 0..state.streams.len() {
        if is_starting {
            state.make(index as u16);
        } else {
            state.streams[index].cancel();
            state.streams[index].far = None;
        }
        drop(state.streams[index].take(epoll));
    }
}
