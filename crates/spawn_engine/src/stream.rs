//! The near end of one pipe of a child.

use std::os::fd::OwnedFd;

use crate::block::{self, BLOCK};
use crate::sys::{self, Epoll, Errno};

/// Max bytes by which a flowing stream may be ahead of its reader.
pub const FLOW_CREDIT: usize = BLOCK;
/// From this size on the block that was read into is passed on; smaller data is copied out of it.
const MIN_PASSED_ON: usize = 16 * 1024;

/// Handling of the bytes.
#[derive(Debug)]
pub(crate) enum Mode {
    /// Nothing has requested them yet.
    Idle,
    /// Passed on, as many as the credit allows.
    Flow { credit: usize },
    /// Kept until the end.
    Collect { bytes: Vec<u8>, limit: usize },
    /// Discarded until the end, and counted.
    Drain { bytes: u64 },
}

/// The result of one read of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Data(Vec<u8>),
    Overflow(Vec<u8>),
    End {
        bytes: Vec<u8>,
        error: Errno,
    },
    /// The end of a discarded stream.
    Drained {
        bytes: u64,
    },
}

/// Events of a stream that the reactor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Nothing,
    /// Its end, which is noted and not reported.
    End,
    Bytes,
}

#[derive(Debug)]
pub(crate) struct Stream {
    /// `None`: not a pipe, not created yet, closed, or handed over.
    pub fd: Option<OwnedFd>,
    /// The child's end, until the child has it; after a failure, until that has been reported.
    pub far: Option<OwnedFd>,
    pub mode: Mode,
    /// True for a pipe that is created when it is needed: a queued child holds no descriptors for it.
    is_uncreated: bool,
    /// True if it is only read from: its buffer has the kernel's default size, which is larger than libuv's.
    is_output: bool,
    watch: Watch,
    /// The port's count of looks at its own descriptors when it was seen that the stream had ended without a byte.
    ended_at: Option<u64>,
}

impl Stream {
    /// Creates the state of a pipe, or of an entry that is not a pipe.
    pub fn new(is_pipe: bool, is_output: bool, mode: Mode) -> Self {
        Self {
            fd: None,
            far: None,
            mode,
            is_uncreated: is_pipe,
            is_output,
            watch: Watch::Nothing,
            ended_at: None,
        }
    }

    /// Creates the pipe, if it is one that does not exist yet.
    pub fn create(&mut self) -> Result<(), Errno> {
        if self.is_uncreated {
            let (near, far) = sys::socket_pair()?;
            if !self.is_output {
                sys::limit_sending(&near);
                sys::limit_sending(&far);
            }
            self.is_uncreated = false;
            self.fd = Some(near);
            self.far = Some(far);
        }
        Ok(())
    }

    /// Returns true if nothing more comes out of it.
    pub fn has_ended(&self) -> bool {
        self.fd.is_none() && !self.is_uncreated
    }

    /// Returns true if it ended without a byte, and its end has not been reported.
    pub fn is_at_end(&self) -> bool {
        matches!(self.mode, Mode::Idle) && self.fd.as_ref().is_some_and(sys::is_at_end)
    }

    /// Returns true if it has no writer any longer.
    pub fn has_hung_up(&self) -> bool {
        self.fd.as_ref().is_none_or(sys::has_hung_up)
    }

    /// Returns true if the pipe was never created, and prevents its creation.
    pub fn cancel(&mut self) -> bool {
        std::mem::take(&mut self.is_uncreated)
    }

    pub fn wants_reading(&self) -> bool {
        match self.mode {
            Mode::Idle => false,
            Mode::Flow { credit } => credit > 0,
            Mode::Collect { .. } | Mode::Drain { .. } => true,
        }
    }

    /// Starts watching it, if there is something to read for. Returns an end with an error if the watching fails.
    pub fn arm(&mut self, epoll: &Epoll, token: u64) -> Found {
        if !self.wants_reading() {
            return Found::Nothing;
        }
        let Some(fd) = &self.fd else {
            return Found::Nothing;
        };
        let result = match self.watch {
            Watch::Bytes => Ok(()),
            Watch::End => {
                epoll.change(fd, libc::EPOLLIN, token);
                Ok(())
            }
            Watch::Nothing => epoll.add(fd, libc::EPOLLIN, token),
        };
        match result {
            Ok(()) => {
                self.watch = Watch::Bytes;
                Found::Nothing
            }
            Err(error) => self.end(epoll, error),
        }
    }

    /// Starts watching for the end of a stream that nothing has requested. Without memory for that, the end counts as unseen.
    pub fn watch_end(&mut self, epoll: &Epoll, token: u64) {
        if let (Mode::Idle, Watch::Nothing, Some(fd)) = (&self.mode, self.watch, &self.fd)
            && epoll
                .add(fd, libc::EPOLLRDHUP | libc::EPOLLET, token)
                .is_ok()
        {
            self.watch = Watch::End;
        }
    }

    pub fn disarm(&mut self, epoll: &Epoll) {
        if let (Watch::End | Watch::Bytes, Some(fd)) = (self.watch, &self.fd) {
            epoll.remove(fd);
        }
        self.watch = Watch::Nothing;
    }

    /// Returns true while the reactor reads it. An event that epoll reported before it was disarmed may still arrive.
    pub fn is_armed(&self) -> bool {
        self.watch == Watch::Bytes
    }

    /// Notes that it ended without a byte, which was seen before `looks` was read.
    pub fn note_end(&mut self, looks: u64) {
        self.ended_at.get_or_insert(looks);
    }

    /// Returns true if it ended without a byte, and a loop that had looked `looks` times would have seen that.
    pub fn is_end_seen(&self, looks: u64) -> bool {
        self.ended_at.is_some_and(|ended_at| ended_at < looks)
    }

    /// Hands over the descriptor, no longer watched.
    pub fn take(&mut self, epoll: &Epoll) -> Option<OwnedFd> {
        self.disarm(epoll);
        self.fd.take()
    }

    /// Reads once, without blocking. Unix sockets fill the buffer when they can, so a short read means the socket is empty, and a
    /// level-triggered epoll needs no read that ends in EAGAIN. `scratch` is an empty block, before and after.
    pub fn read_once(&mut self, epoll: &Epoll, scratch: &mut Vec<u8>) -> Found {
        let Some(fd) = &self.fd else {
            return Found::Nothing;
        };
        let max = match self.mode {
            Mode::Flow { credit } => credit,
            _ => BLOCK,
        };
        let found = match sys::receive(fd, scratch, max) {
            Err(libc::EAGAIN) => Found::Nothing,
            Err(error) => self.end(epoll, error),
            Ok(0) => self.end(epoll, 0),
            Ok(_) => self.accept(epoll, scratch),
        };
        scratch.clear();
        found
    }

    fn accept(&mut self, epoll: &Epoll, read: &mut Vec<u8>) -> Found {
        match &mut self.mode {
            Mode::Idle => Found::Nothing,
            Mode::Drain { bytes } => {
                *bytes += read.len() as u64;
                Found::Nothing
            }
            Mode::Flow { credit } => {
                *credit -= read.len();
                if *credit == 0 {
                    self.disarm(epoll);
                }
                Found::Data(if read.len() < MIN_PASSED_ON {
                    read.to_vec()
                } else {
                    std::mem::replace(read, block::take())
                })
            }
            Mode::Collect { bytes, limit } => {
                bytes.extend_from_slice(read);
                if bytes.len() <= *limit {
                    return Found::Nothing;
                }
                let bytes = std::mem::take(bytes);
                self.mode = Mode::Idle;
                self.disarm(epoll);
                Found::Overflow(bytes)
            }
        }
    }

    /// Discards the bytes from now on. Returns their number if the stream has ended by then: after short output, the end is known
    /// in this turn of the loop, as it is with libuv.
    pub fn drain(&mut self, epoll: &Epoll, token: u64, scratch: &mut Vec<u8>) -> Option<u64> {
        self.mode = Mode::Drain { bytes: 0 };
        for _ in 0..2 {
            if let Found::Drained { bytes } = self.read_once(epoll, scratch) {
                return Some(bytes);
            }
        }
        match self.arm(epoll, token) {
            Found::Drained { bytes } => Some(bytes),
            _ => None,
        }
    }

    /// Keeps the bytes from now on. Returns the number of those discarded.
    pub fn stop_draining(&mut self, epoll: &Epoll) -> u64 {
        let Mode::Drain { bytes } = self.mode else {
            return 0;
        };
        self.disarm(epoll);
        self.mode = Mode::Idle;
        bytes
    }

    fn end(&mut self, epoll: &Epoll, error: Errno) -> Found {
        drop(self.take(epoll));
        match &mut self.mode {
            Mode::Drain { bytes } => Found::Drained {
                bytes: std::mem::take(bytes),
            },
            Mode::Collect { bytes, .. } => Found::End {
                bytes: std::mem::take(bytes),
                error,
            },
            Mode::Idle | Mode::Flow { .. } => Found::End {
                bytes: Vec::new(),
                error,
            },
        }
    }
}
