//! What crosses between JavaScript and the engine by value.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;

use http_engine::{
    ANALYTICS_COOKIES, Address, Begin, Bind, CREDENTIALS, Clock, FileRange, KNOWN_NAMES, LinePlan,
    METHODS, Network, Proxies, ServerSettings, SettingFlags,
};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// What the two sides have to agree on.
#[napi(object)]
pub struct Tables {
    /// By the index that crosses.
    pub methods: Vec<String>,
    /// By the number that crosses, minus 1.
    pub names: Vec<String>,
    /// Codes of client errors by number.
    pub codes: Vec<String>,
    /// Their reasons.
    pub reasons: Vec<String>,
    /// Headers that show who is asking, in lower case.
    pub credentials: Vec<String>,
    /// How the names of cookies begin that do not.
    pub analytics_cookies: Vec<String>,
}

/// Where a socket is.
#[napi(object, js_name = "SocketAddress")]
pub struct JsAddress {
    /// An IP address, or the path of a Unix socket.
    pub address: String,
    /// `IPv4`, `IPv6`, or empty for a Unix socket.
    pub family: String,
    /// 0 for a Unix socket.
    pub port: u32,
}

/// What a proxy has said of a connection.
#[napi(object, js_name = "ProxyHeader")]
pub struct JsProxyHeader {
    /// 1 or 2.
    pub version: u32,
    /// It says whose connection it is.
    pub has_ends: bool,
    /// Type, length in two bytes, value.
    pub values: Buffer,
    /// The proxy's end of the connection.
    pub peer: Option<JsAddress>,
}

/// A part of a file.
#[napi(object, js_name = "FileRange")]
pub struct JsFileRange {
    /// The descriptor.
    pub fd: i32,
    /// Its first byte, or -1 for the descriptor's own position.
    pub at: f64,
    /// How many bytes at the most.
    pub length: f64,
    /// The bytes of a chunk; 0 without chunks.
    pub chunk: u32,
    /// The device of the file, as `fs.fstatSync` gives it.
    pub device: f64,
    /// Its number there.
    pub inode: f64,
}

impl From<JsFileRange> for FileRange {
    fn from(range: JsFileRange) -> Self {
        Self {
            fd: range.fd,
            at: (range.at >= 0.0).then_some(range.at as u64),
            length: range.length as u64,
            chunk: range.chunk,
            device: range.device as u64,
            inode: range.inode as u64,
        }
    }
}

/// A connection that is given away.
#[napi(object, js_name = "Detached")]
pub struct JsDetached {
    /// Its descriptor.
    pub fd: i32,
    /// What was read behind the head.
    pub head: Buffer,
}

/// Times in milliseconds, 0 is off.
#[napi(object, js_name = "ServerSettings")]
pub struct JsSettings {
    /// For a head to come in.
    pub headers_timeout: u32,
    /// For a request to come in.
    pub request_timeout: u32,
    /// For the header of a proxy to come in.
    pub proxy_timeout: Option<u32>,
    /// Between two requests, everything included.
    pub keep_alive_timeout: u32,
    /// What kept responses say about it in `Keep-Alive`; nothing when it is 0 or missing.
    pub keep_alive_shown: Option<u32>,
    /// Without activity.
    pub socket_timeout: u32,
    /// Bytes, as Node counts.
    pub max_header_size: u32,
    /// Headers of a request, and trailers; 0 disables the limit.
    pub max_headers: u32,
    /// 0 disables the limit, -1 drops all.
    pub max_connections: i32,
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// Its delay in milliseconds.
    pub keep_alive_initial_delay: u32,
    /// Answer clients that have ended their side.
    pub allow_half_open: bool,
    /// Report connections when they come.
    pub announce_connections: bool,
}

/// How to listen. One of `host`, `path` and `fd`.
#[napi(object, js_name = "ListenOptions")]
pub struct JsListenOptions {
    /// An IP address.
    pub host: Option<String>,
    /// With `host`.
    pub port: Option<u32>,
    /// Of a Unix socket.
    pub path: Option<String>,
    /// A bound socket. It stays the caller's: the engine uses a copy of the descriptor.
    pub fd: Option<i32>,
    /// Connections that may wait.
    pub backlog: Option<i32>,
    /// No IPv4 on an IPv6 socket.
    pub ipv6_only: Option<bool>,
    /// SO_REUSEPORT.
    pub reuse_port: Option<bool>,
    /// Rights of a Unix socket.
    pub readable_all: Option<bool>,
    /// Rights of a Unix socket.
    pub writable_all: Option<bool>,
}

/// The pieces of the lines of a server's own answers, and what goes between them.
#[napi(object, js_name = "LinePlan")]
pub struct JsLinePlan {
    /// What the lines of a status below 400, below 500 and above begin with; `null` where none is written.
    pub begins: Vec<Option<String>>,
    /// Requests that would be answered with 400 and above are reported instead.
    pub reports_errors: bool,
    /// What comes before the time.
    pub before_time: String,
    /// `none`, `millis`, `seconds` or `iso`.
    pub clock: String,
    /// Between the time and the request's id.
    pub before_id: String,
    /// Between the status and the response time.
    pub before_duration: String,
    /// What comes last: of a status below 500, and of one above.
    pub ends: Vec<String>,
    /// The header that brings ids, in lower case.
    pub id_header: Option<String>,
    /// What the ids begin with that the engine makes.
    pub id_prefix: String,
    /// The share of lines below status 400 that are written, 0 to 1.
    pub share: f64,
    /// From so many waiting bytes on they are reported as due.
    pub due_bytes: u32,
}

/// The tables of the engine.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn tables() -> Tables {
    let strings = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    let problems = http_engine::problem::PROBLEMS;
    Tables {
        methods: strings(&METHODS),
        names: strings(&KNOWN_NAMES),
        codes: problems
            .iter()
            .map(|(code, _)| (*code).to_owned())
            .collect(),
        reasons: problems
            .iter()
            .map(|(_, reason)| (*reason).to_owned())
            .collect(),
        credentials: strings(&CREDENTIALS),
        analytics_cookies: strings(&ANALYTICS_COOKIES),
    }
}

impl From<JsSettings> for ServerSettings {
    fn from(settings: JsSettings) -> Self {
        Self {
            headers_timeout: settings.headers_timeout,
            request_timeout: settings.request_timeout,
            proxy_timeout: settings.proxy_timeout.unwrap_or(0),
            keep_alive_timeout: settings.keep_alive_timeout,
            keep_alive_shown: settings.keep_alive_shown.unwrap_or(0),
            socket_timeout: settings.socket_timeout,
            max_header_size: settings.max_header_size,
            max_headers: settings.max_headers,
            max_connections: settings.max_connections,
            keep_alive_initial_delay: settings.keep_alive_initial_delay,
            flags: SettingFlags {
                no_delay: settings.no_delay,
                keep_alive: settings.keep_alive,
                allow_half_open: settings.allow_half_open,
                announce: settings.announce_connections,
            },
        }
    }
}

impl From<JsLinePlan> for LinePlan {
    fn from(plan: JsLinePlan) -> Self {
        let bytes = |text: String| text.into_bytes().into_boxed_slice();
        let mut begins = plan.begins.into_iter();
        let mut begin = || match begins.next().flatten() {
            Some(text) => Begin::Bytes(bytes(text)),
            None => Begin::Off,
        };
        let mut ends = plan.ends.into_iter();
        let mut end = || bytes(ends.next().unwrap_or_default());
        let mut begins = [begin(), begin(), begin()];
        if plan.reports_errors {
            begins[1..].fill(Begin::Owner);
        }
        Self {
            begins,
            before_time: bytes(plan.before_time),
            clock: match plan.clock.as_str() {
                "millis" => Clock::Millis,
                "seconds" => Clock::Seconds,
                "iso" => Clock::Iso,
                _ => Clock::None,
            },
            before_id: bytes(plan.before_id),
            before_duration: bytes(plan.before_duration),
            ends: [end(), end()],
            id_prefix: bytes(plan.id_prefix),
            share: plan.share,
            due_bytes: plan.due_bytes as usize,
        }
    }
}

impl From<Address> for JsAddress {
    fn from(address: Address) -> Self {
        match address {
            Address::Ip(ip) => Self {
                address: ip.ip().to_string(),
                family: if ip.is_ipv4() { "IPv4" } else { "IPv6" }.to_owned(),
                port: ip.port().into(),
            },
            Address::Unix(path) => Self {
                address: String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned(),
                family: String::new(),
                port: 0,
            },
        }
    }
}

/// The proxies of these names: addresses, networks as `address/bits`, or `unix`. `None` when one cannot be understood.
pub(crate) fn proxies_of(names: &[String]) -> Option<Proxies> {
    let mut proxies = Proxies::default();
    for name in names {
        if name == "unix" {
            proxies.trusts_unix = true;
            continue;
        }
        let (address, bits) = match name.split_once('/') {
            Some((address, bits)) => (address.parse::<IpAddr>().ok()?, bits.parse().ok()?),
            None => {
                let address = name.parse::<IpAddr>().ok()?;
                (address, if address.is_ipv4() { 32 } else { 128 })
            }
        };
        proxies.networks.push(Network::new(address, bits)?);
    }
    Some(proxies)
}

/// Where `options` say to listen; `None` when they say nothing that can be understood.
pub(crate) fn bind_of(options: &JsListenOptions) -> Option<Bind> {
    if let Some(fd) = options.fd {
        return Some(Bind::Fd(fd));
    }
    if let Some(path) = &options.path {
        return Some(Bind::Unix(path.into()));
    }
    let host = options.host.as_deref()?;
    let port = u16::try_from(options.port.unwrap_or(0)).ok()?;
    // A zone (`fe80::1%eth0`) is a number to the kernel.
    let address = match host.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, port),
        Err(_) => format!("[{host}]:{port}").parse().ok()?,
    };
    Some(Bind::Ip(address))
}
