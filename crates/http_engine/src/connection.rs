//! One connection.

use std::os::fd::OwnedFd;

use crate::batch::ConnectionId;
use crate::body::{Body, Framing};
use crate::diagnose::Progress;
use crate::exchanges::Observed;
use crate::problem::ProblemKind;
use crate::proxy_header::{Endpoints, ProxyHeader};
use crate::response_queue::ResponseQueue;
use crate::server::ServerSettings;

/// The events that the epoll instance waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    Nothing,
    Reads,
    Writes,
    Both,
}

impl Interest {
    pub fn of(reads: bool, writes: bool) -> Self {
        match (reads, writes) {
            (false, false) => Self::Nothing,
            (true, false) => Self::Reads,
            (false, true) => Self::Writes,
            (true, true) => Self::Both,
        }
    }

    pub fn reads(self) -> bool {
        matches!(self, Self::Reads | Self::Both)
    }

    pub fn writes(self) -> bool {
        matches!(self, Self::Writes | Self::Both)
    }
}

/// The owner's relation to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerState {
    /// Not reported, so its end is not reported either.
    Unreported,
    Reading,
    /// The owner wants no more: neither of the body nor requests that the kernel holds.
    Paused,
}

/// The handling of a client that ends its side while responses are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientEnd {
    /// Follows the server's setting.
    AsServer,
    /// Reported before the connection is closed.
    Reported,
}

/// Packets that may leave while a response is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packets {
    All,
    /// The kernel holds back the last, partial packet for the bytes that follow.
    Full,
}

/// The reason a connection cannot be parsed any further. llhttp reports it for every further piece, and so does `clientError`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub kind: ProblemKind,
    pub at: u32,
    /// The number of its response, or [`crate::wire::error::NO_PLACE`].
    pub place: u32,
}

/// The handling of the bytes a client sends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// The header of its proxy is awaited.
    ProxyHeader,
    Requests,
    /// The client announced its last request: its body is read, and nothing after it.
    LastRequest,
    /// The fault was reported; each further piece is refused for the same reason.
    Refused(Refusal),
    /// As above, but further bytes are discarded.
    Discarded,
}

/// The condition for parsing more of the client's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    /// The next batch: the last was full.
    Batch,
    /// Earlier responses.
    Responses,
    /// The decision on a request that may take the connection over.
    Upgrade,
}

/// The progress of a connection towards its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Open,
    /// The client has ended its side.
    Ended,
    /// Closes once everything is sent, whatever the client does.
    Closing,
}

pub(crate) struct Connection {
    pub fd: OwnedFd,
    pub id: ConnectionId,
    /// Bytes read but not parsed yet. Usually empty, and without memory then.
    pub unread: Vec<u8>,
    /// Bytes of `unread` that came before the last packet.
    pub packet_start: usize,
    pub proxy: Option<Box<ProxyHeader>>,
    /// Reading position in the incomplete head at the start of `unread`.
    pub head: Option<Box<Progress>>,
    pub body: Option<Body>,
    pub responses: ResponseQueue,
    pub interest: Interest,
    pub input: Input,
    pub wait: Wait,
    pub stage: Stage,
    pub owner: OwnerState,
    pub client_end: ClientEnd,
    pub packets: Packets,
    /// False if its owner has unreferenced it.
    pub is_referenced: bool,
    /// True if the engine counts it in `holding`.
    pub holds: bool,
    /// Start of waiting for a head or of its arrival, otherwise 0.
    pub head_since: u64,
    /// Start of the request whose body is arriving.
    pub request_since: u64,
    /// Start of the rest between two requests, otherwise 0.
    pub idle_since: u64,
    pub last_active: u64,
    /// The turn of the owner's loop in which it was last read.
    pub read_in_turn: u32,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Its own inactivity timeout.
    pub socket_timeout: u32,
    /// The time of its earliest timer entry, 0 without one.
    pub armed: u64,
    pub observed: Observed,
}

/// The deadline that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// Headers or request timeout.
    Request,
    /// Between two requests.
    KeepAlive,
    /// Without any activity.
    Inactive,
}

impl Connection {
    pub fn new(fd: OwnedFd, id: ConnectionId, now_ms: u64, settings: &ServerSettings) -> Self {
        Self {
            fd,
            id,
            unread: Vec::new(),
            packet_start: 0,
            proxy: None,
            head: None,
            body: None,
            responses: ResponseQueue::default(),
            interest: Interest::Reads,
            input: Input::Requests,
            wait: Wait::Nothing,
            stage: Stage::Open,
            owner: OwnerState::Unreported,
            client_end: ClientEnd::AsServer,
            packets: Packets::All,
            is_referenced: true,
            holds: false,
            // A client that connects and sends nothing is timed like one that has begun a request.
            head_since: now_ms,
            request_since: 0,
            idle_since: 0,
            last_active: now_ms,
            read_in_turn: 0,
            bytes_read: 0,
            bytes_written: 0,
            socket_timeout: settings.socket_timeout,
            armed: 0,
            observed: Observed::default(),
        }
    }

    pub fn wants_read(&self) -> bool {
        self.stage == Stage::Open && self.wait == Wait::Nothing && self.owner != OwnerState::Paused
    }

    /// Returns true while it keeps its owner's loop alive, by libuv's rules: a referenced handle that reads does, and so does
    /// every write request.
    pub fn holds_loop(&self) -> bool {
        let is_read = self.stage == Stage::Open && self.owner != OwnerState::Paused;
        is_read && self.is_referenced || self.responses.unsent() > 0
    }

    /// Returns its endpoints as reported by its proxy.
    pub fn endpoints(&self) -> Option<&Endpoints> {
        self.proxy.as_ref()?.endpoints.as_ref()
    }

    /// Marks it as reported to its owner, with the record being written.
    pub fn mark_reported(&mut self) {
        if self.owner == OwnerState::Unreported {
            self.owner = OwnerState::Reading;
        }
    }

    pub fn has_failed(&self) -> bool {
        matches!(self.input, Input::Refused(_) | Input::Discarded)
    }

    /// Returns true if it closes once everything is sent.
    pub fn is_closing(&self) -> bool {
        self.stage == Stage::Closing
    }

    /// Returns true if the next head waits for an action of the owner.
    pub fn is_blocked(&self) -> bool {
        match self.wait {
            Wait::Responses => true,
            Wait::Upgrade => self.body.is_none(),
            Wait::Nothing | Wait::Batch => false,
        }
    }

    /// Clears the wait, whose condition may have been met. A pending decision is cleared elsewhere.
    pub fn clear_wait(&mut self) {
        if self.wait != Wait::Upgrade {
            self.wait = Wait::Nothing;
        }
    }

    /// Returns true if bytes or an end were read and not reported yet.
    pub fn has_unparsed(&self) -> bool {
        let is_end_due = |body: &Body| matches!(body.framing, Framing::Ended(_));
        !self.unread.is_empty() || self.body.as_ref().is_some_and(is_end_due)
    }

    /// Returns true between two requests, with nothing to send.
    pub fn is_idle(&self) -> bool {
        self.idle_since != 0 && self.responses.in_flight() == 0 && self.unread.is_empty()
    }

    /// Returns true if it has not sent a byte of its first request: the time of a later one begins with its bytes.
    pub fn is_unused(&self) -> bool {
        self.head_since != 0 && self.responses.in_flight() == 0 && self.unread.is_empty()
    }

    /// Returns true between two requests if its timer entry comes soon enough: usually the one from the last rest does.
    pub fn is_armed_for_idle(&self, settings: &ServerSettings) -> bool {
        let is_soon =
            |since: u64, timeout: u32| timeout == 0 || self.armed <= since + u64::from(timeout);
        self.armed != 0
            && self.idle_since != 0
            && self.head_since == 0
            && self.body.is_none()
            && is_soon(self.idle_since, settings.keep_alive_timeout)
            && is_soon(self.last_active, self.socket_timeout)
    }

    pub fn deadline(&self, settings: &ServerSettings) -> Option<(u64, Deadline)> {
        // Bytes that the client sent in time wait for the owner: no limit runs.
        if self.wait == Wait::Batch {
            return None;
        }
        let request = if self.has_failed() || self.is_closing() {
            None
        } else if self.head_since != 0 && !self.is_blocked() {
            let of_proxy = match self.input {
                Input::ProxyHeader => settings.proxy_timeout,
                _ => 0,
            };
            let all = [settings.headers_timeout, settings.request_timeout, of_proxy];
            let first = all.into_iter().filter(|timeout| *timeout != 0).min();
            first.map(|timeout| self.head_since + u64::from(timeout))
        } else if self.body.is_some() && settings.request_timeout != 0 {
            Some(self.request_since + u64::from(settings.request_timeout))
        } else {
            None
        };
        let keep_alive = (self.idle_since != 0 && settings.keep_alive_timeout != 0)
            .then(|| self.idle_since + u64::from(settings.keep_alive_timeout));
        let inactive =
            (self.socket_timeout != 0).then(|| self.last_active + u64::from(self.socket_timeout));
        // Between requests the keep-alive timeout replaces the inactivity timeout, once the client has its response.
        let rests = keep_alive.is_some() && self.responses.unsent() == 0;
        [
            request.map(|at| (at, Deadline::Request)),
            keep_alive.map(|at| (at, Deadline::KeepAlive)),
            inactive
                .filter(|_| !rests)
                .map(|at| (at, Deadline::Inactive)),
        ]
        .into_iter()
        .flatten()
        .min_by_key(|(at, _)| *at)
    }
}
