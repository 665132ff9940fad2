//! State of one listening server.

use crate::head::Limits;
use crate::listener::Listener;
use crate::proxies::Proxies;
use crate::server_store::ServerStore;

/// The settings of a server. Times in milliseconds, 0 is off.
#[derive(Clone, Copy, Debug)]
pub struct ServerSettings {
    /// From the first byte of a head, or the start of the connection, to the head's end.
    pub headers_timeout: u32,
    /// From the same moment to the end of the body.
    pub request_timeout: u32,
    /// From the start of the connection to the end of its proxy's header.
    pub proxy_timeout: u32,
    /// Max time between two requests.
    pub keep_alive_timeout: u32,
    /// Value shown in `Keep-Alive` by kept responses, rounded down to seconds.
    pub keep_alive_shown: u32,
    /// Max time without any activity.
    pub socket_timeout: u32,
    /// Counted as Node does: URL, names and values.
    pub max_header_size: u32,
    /// Max headers of a head, and of a block of trailers; 0 means unlimited.
    pub max_headers: u32,
    /// Connections above this are dropped; -1 drops all, 0 none.
    pub max_connections: i32,
    /// Delay of SO_KEEPALIVE, in milliseconds.
    pub keep_alive_initial_delay: u32,
    /// Enabled options.
    pub flags: SettingFlags,
}

/// Options of a server that are on or off.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettingFlags {
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// A client that ends its side still gets its responses.
    pub allow_half_open: bool,
    /// Reports every connection when it arrives, not with its first request.
    pub announce: bool,
}

impl ServerSettings {
    /// The defaults, without any timeout.
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

/// The source of a server's connections.
pub(crate) enum Source {
    /// The engine accepts them.
    Listener(Listener),
    /// The owner hands them over, with [`crate::Engine::adopt`].
    Owner,
    /// Accepts no more.
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
    /// Responses it sends without its owner, once the owner has opened the store.
    pub store: Option<ServerStore>,
    /// The lines after `Date` in such a response, on a connection that stays open.
    pub keep_alive_lines: Vec<u8>,
    /// The only proxies whose connections it serves, if set.
    pub proxies: Option<Proxies>,
    /// The request header, in lower case, whose value is reported with such responses.
    pub id_header: Option<Box<[u8]>>,
}

impl Server {
    pub fn configure(&mut self, settings: ServerSettings) {
        self.settings = settings;
        self.keep_alive_lines = keep_alive_lines(&settings);
    }
}

/// Formats the lines as node:http does.
pub(crate) fn keep_alive_lines(settings: &ServerSettings) -> Vec<u8> {
    let shown = settings.keep_alive_shown;
    let timeout = if shown == 0 {
        String::new()
    } else {
        format!("Keep-Alive: timeout={}\r\n", shown / 1000)
    };
    format!("\r\nConnection: keep-alive\r\n{timeout}").into()
}
