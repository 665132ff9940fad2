//! One connection.

use std::os::fd::OwnedFd;

use crate::answers::Answers;
use crate::batch::Whom;
use crate::body::{Body, Framing};
use crate::diagnose::Progress;
use crate::problem::What;
use crate::proxy_header::{Ends, ProxyHeader};
use crate::server::ServerSettings;

/// What the epoll instance waits for.
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

/// What its owner knows and wants of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It was not reported, so its end is not either.
    Unaware,
    Reading,
    /// The owner wants no more: neither of the body nor requests that the kernel holds.
    Paused,
}

/// What the owner hears when the client ends its side while responses are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientEnd {
    /// What its server is set to.
    AsServer,
    /// It is reported before the connection is closed.
    Reported,
}

/// What leaves of a response that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packets {
    All,
    /// The kernel holds back the end of what was sent for what follows.
    Full,
}

/// Why a connection cannot be parsed any further. llhttp reports it for every further piece, and so does `clientError`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub what: What,
    pub at: u32,
    /// The number its response would have, or [`crate::wire::error::NO_PLACE`].
    pub place: u32,
}

/// What becomes of the bytes a client sends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// The header of its proxy is awaited.
    OfProxy,
    Understood,
    /// The client announced with a request that it sends no more of them: its body is read, and nothing behind it.
    LastRequest,
    /// The fault was reported; each further piece is refused for the same reason.
    Refused(Refusal),
    /// As above, but what still comes is discarded.
    Dropped,
}

/// What has to happen before more of what a client sent is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    /// The next batch: there was no room in the last.
    Batch,
    /// Earlier responses.
    Answers,
    /// The decision about a request that may take the connection over.
    Upgrade,
}

/// How far a connection is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Open,
    /// The client has ended its side.
    Ended,
    /// It closes once everything is sent, whatever its client does.
    Closing,
}

pub(crate) struct Connection {
    pub fd: OwnedFd,
    pub whom: Whom,
    /// Bytes that were read and not understood yet. Empty most of the time, and without memory then.
    pub unread: Vec<u8>,
    /// How many of them came before the last packet.
    pub held: usize,
    /// The PROXY header of the connection.
    pub proxy: Option<Box<ProxyHeader>>,
    /// How far the incomplete head is read that `unread` begins with.
    pub head: Option<Box<Progress>>,
    pub body: Option<Body>,
    pub answers: Answers,
    pub interest: Interest,
    pub input: Input,
    pub wait: Wait,
    pub stage: Stage,
    pub owner: Owner,
    pub client_end: ClientEnd,
    pub packets: Packets,
    /// Its owner has not unreferenced it.
    pub is_referenced: bool,
    /// It is among those the engine counts in `holding`.
    pub holds: bool,
    /// Since when a head is awaited or coming in, 0 when none is.
    pub head_since: u64,
    /// When the request began whose body is coming in.
    pub request_since: u64,
    /// Since when it is between two requests, 0 when it is not.
    pub idle_since: u64,
    pub last_active: u64,
    /// The turn of the owner's loop in which it was last read.
    pub read_in: u32,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Its own inactivity timeout.
    pub socket_timeout: u32,
    /// When its earliest timer entry is due, 0 without one.
    pub armed: u64,
}

/// Which deadline is first.
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
    pub fn new(fd: OwnedFd, whom: Whom, now_ms: u64, settings: &ServerSettings) -> Self {
        Self {
            fd,
            whom,
            unread: Vec::new(),
            held: 0,
            proxy: None,
            head: None,
            body: None,
            answers: Answers::default(),
            interest: Interest::Reads,
            input: Input::Understood,
            wait: Wait::Nothing,
            stage: Stage::Open,
            owner: Owner::Unaware,
            client_end: ClientEnd::AsServer,
            packets: Packets::All,
            is_referenced: true,
            holds: false,
            // A client that connects and sends nothing is timed as one that has begun.
            head_since: now_ms,
            request_since: 0,
            idle_since: 0,
            last_active: now_ms,
            read_in: 0,
            bytes_read: 0,
            bytes_written: 0,
            socket_timeout: settings.socket_timeout,
            armed: 0,
        }
    }

    pub fn wants_read(&self) -> bool {
        self.stage == Stage::Open && self.wait == Wait::Nothing && self.owner != Owner::Paused
    }

    /// True while it keeps its owner's loop alive, as libuv counts: a handle that reads and was not unreferenced does, and so does
    /// every request to write.
    pub fn holds_loop(&self) -> bool {
        let is_read = self.stage == Stage::Open && self.owner != Owner::Paused;
        is_read && self.is_referenced || self.answers.unsent() > 0
    }

    /// Its ends as its proxy has said them.
    pub fn ends(&self) -> Option<&Ends> {
        self.proxy.as_ref()?.ends.as_ref()
    }

    /// Its owner hears of it, with the record that is written now.
    pub fn tell(&mut self) {
        if self.owner == Owner::Unaware {
            self.owner = Owner::Reading;
        }
    }

    /// Something was wrong.
    pub fn has_failed(&self) -> bool {
        matches!(self.input, Input::Refused(_) | Input::Dropped)
    }

    /// It closes once everything is sent.
    pub fn is_closing(&self) -> bool {
        self.stage == Stage::Closing
    }

    /// The next head waits for what the owner does.
    pub fn is_blocked(&self) -> bool {
        match self.wait {
            Wait::Answers => true,
            Wait::Upgrade => self.body.is_none(),
            Wait::Nothing | Wait::Batch => false,
        }
    }

    /// What it waited for may have happened. A decision is taken elsewhere.
    pub fn look_again(&mut self) {
        if self.wait != Wait::Upgrade {
            self.wait = Wait::Nothing;
        }
    }

    /// Something was read and not reported yet.
    pub fn has_more(&self) -> bool {
        let is_end_due = |body: &Body| matches!(body.framing, Framing::Ended(_));
        !self.unread.is_empty() || self.body.as_ref().is_some_and(is_end_due)
    }

    /// Between two requests, with nothing to send.
    pub fn is_idle(&self) -> bool {
        self.idle_since != 0 && self.answers.in_flight() == 0 && self.unread.is_empty()
    }

    /// It has not sent a byte of its first request: of a later one its time begins with its bytes.
    pub fn is_unused(&self) -> bool {
        self.head_since != 0 && self.answers.in_flight() == 0 && self.unread.is_empty()
    }

    /// Whether it is between two requests, and its timer entry comes soon enough: that of the last time does.
    pub fn is_armed_for_rest(&self, settings: &ServerSettings) -> bool {
        let is_soon =
            |since: u64, timeout: u32| timeout == 0 || self.armed <= since + u64::from(timeout);
        self.armed != 0
            && self.idle_since != 0
            && self.head_since == 0
            && self.body.is_none()
            && is_soon(self.idle_since, settings.keep_alive_timeout)
            && is_soon(self.last_active, self.socket_timeout)
    }

    /// The next deadline and its kind.
    pub fn deadline(&self, settings: &ServerSettings) -> Option<(u64, Deadline)> {
        // What the client sent in time waits for its owner: none of its limits runs.
        if self.wait == Wait::Batch {
            return None;
        }
        let request = if self.has_failed() || self.is_closing() {
            None
        } else if self.head_since != 0 && !self.is_blocked() {
            let of_proxy = match self.input {
                Input::OfProxy => settings.proxy_timeout,
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
        // Between requests the keep-alive timeout takes the place of the other, once the client has its response.
        let rests = keep_alive.is_some() && self.answers.unsent() == 0;
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
