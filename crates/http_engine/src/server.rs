//! What belongs to one listening server.

use crate::head::Limits;
use crate::listener::Listener;
use crate::own_answers::OwnAnswers;
use crate::proxies::Proxies;

/// The settings of a server. Times in milliseconds, 0 is off.
#[derive(Clone, Copy, Debug)]
pub struct ServerSettings {
    /// From the first byte of a head, or the start of the connection, to the head's end.
    pub headers_timeout: u32,
    /// From the same moment to the end of the body.
    pub request_timeout: u32,
    /// From the start of the connection to the end of its proxy's header.
    pub proxy_timeout: u32,
    /// Between two requests.
    pub keep_alive_timeout: u32,
    /// What kept responses say in `Keep-Alive`, rounded down to seconds.
    pub keep_alive_shown: u32,
    /// Without any activity.
    pub socket_timeout: u32,
    /// As Node counts: URL, names and values.
    pub max_header_size: u32,
    /// Headers a head may have, and a block of trailers; 0 means unlimited.
    pub max_headers: u32,
    /// More are dropped; -1 drops all, 0 none.
    pub max_connections: i32,
    /// For SO_KEEPALIVE, in milliseconds.
    pub keep_alive_initial_delay: u32,
    /// What is on.
    pub flags: SettingFlags,
}

/// What is on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettingFlags {
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// A client that ends its side still gets its responses.
    pub allow_half_open: bool,
    /// Report every connection when it comes, not with its first request.
    pub announce: bool,
}

impl ServerSettings {
    /// No timeout at all, and otherwise the defaults.
    pub const WITHOUT_TIMEOUTS: Self = Self {
        headers_timeout: 0,
        request_timeout: 0,
        proxy_timeout: 0,
        keep_alive_timeout: 0,
        keep_alive_shown: 0,
        socket_timeout: 0,
        max_header_size: 16 * 1024,
        max_headers: 1000,
        max_connections: 0,
        keep_alive_initial_delay: 0,
        flags: SettingFlags {
            no_delay: true,
            keep_alive: false,
            allow_half_open: false,
            announce: false,
        },
    };

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            size: self.max_header_size as usize,
            headers: match self.max_headers {
                0 => usize::MAX,
                limit => limit as usize,
            },
        }
    }
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            headers_timeout: 60_000,
            request_timeout: 300_000,
            keep_alive_timeout: 6_000,
            keep_alive_shown: 5_000,
            ..Self::WITHOUT_TIMEOUTS
        }
    }
}

/// Where the connections of a server come from.
pub(crate) enum Source {
    /// The engine accepts them.
    Listener(Listener),
    /// The owner hands them over, with [`crate::Engine::adopt`].
    Owner,
    /// It takes no more.
    Stopped,
}

impl Source {
    pub fn listener(&self) -> Option<&Listener> {
        match self {
            Self::Listener(listener) => Some(listener),
            Self::Owner | Self::Stopped => None,
        }
    }
}

pub(crate) struct Server {
    pub source: Source,
    pub settings: ServerSettings,
    pub connections: u32,
    /// The answers it gives without its owner, once the owner has opened them.
    pub answers: Option<OwnAnswers>,
    /// The lines after `Date` in such an answer, on a connection that stays open.
    pub keep_alive_lines: Vec<u8>,
    /// The proxies whose connections it serves, and nobody else's.
    pub proxies: Option<Proxies>,
    /// The request header, in lower case, whose value the owner hears of with such answers.
    pub noted: Option<Box<[u8]>>,
}

impl Server {
    pub fn configure(&mut self, settings: ServerSettings) {
        self.settings = settings;
        self.keep_alive_lines = keep_alive_lines(&settings);
    }
}

/// As node:http writes them.
pub(crate) fn keep_alive_lines(settings: &ServerSettings) -> Vec<u8> {
    let shown = settings.keep_alive_shown;
    let timeout = if shown == 0 {
        String::new()
    } else {
        format!("Keep-Alive: timeout={}\r\n", shown / 1000)
    };
    format!("\r\nConnection: keep-alive\r\n{timeout}").into()
}
