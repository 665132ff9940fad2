//! Values that cross between JavaScript and the engine.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;

use http_engine::{
    ANALYTICS_COOKIES, Address, Begin, Bind, CREDENTIALS, Clock, FileRange, KNOWN_NAMES, LinePlan,
    METHODS, Network, Proxies, ServerSettings, SettingFlags,
};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// Tables that the two sides must agree on.
#[napi(object)]
pub struct Tables {
    /// Methods, by the index that crosses.
    pub methods: Vec<String>,
    /// Header names, by the number that crosses, minus 1.
    pub names: Vec<String>,
    /// Codes of client errors by number.
    pub codes: Vec<String>,
    /// Their reasons.
    pub reasons: Vec<String>,
    /// Headers that identify the client, in lower case.
    pub credentials: Vec<String>,
    /// Prefixes of cookie names that do not identify the client.
    pub analytics_cookies: Vec<String>,
}

/// The address of a socket.
#[napi(object, js_name = "SocketAddress")]
pub struct JsAddress {
    /// An IP address, or the path of a Unix socket.
    pub address: String,
    /// `IPv4`, `IPv6`, or empty for a Unix socket.
    pub family: String,
    /// 0 for a Unix socket.
    pub port: u32,
}

/// A proxy's information about a connection.
#[napi(object, js_name = "ProxyHeader")]
pub struct JsProxyHeader {
    /// 1 or 2.
    pub version: u32,
    /// True if it names the ends of the connection.
    pub has_ends: bool,
    /// TLVs: type, length in two bytes, value.
    pub values: Buffer,
    /// The proxy's end of the connection.
    pub peer: Option<JsAddress>,
}

/// A range of a file.
#[napi(object, js_name = "FileRange")]
pub struct JsFileRange {
    /// The descriptor.
    pub fd: i32,
    /// Its first byte, or -1 for the descriptor's own position.
    pub at: f64,
    /// Max bytes.
    pub length: f64,
    /// Bytes per chunk; 0 without chunks.
    pub chunk: u32,
    /// The device of the file, as `fs.fstatSync` gives it.
    pub device: f64,
    /// The inode on that device.
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

/// A connection that is handed over.
#[napi(object, js_name = "Detached")]
pub struct JsDetached {
    /// Its descriptor.
    pub fd: i32,
    /// Bytes read after the head.
    pub head: Buffer,
}

/// Settings of a server. Times in milliseconds, 0 is off.
#[napi(object, js_name = "ServerSettings")]
pub struct JsSettings {
    /// Time for a head to arrive.
    pub headers_timeout: u32,
    /// Time for a request to arrive.
    pub request_timeout: u32,
    /// Time for a proxy's header to arrive.
    pub proxy_timeout: Option<u32>,
    /// Time between two requests, everything included.
    pub keep_alive_timeout: u32,
    /// Value shown in `Keep-Alive` by kept responses; the header is omitted if it is 0 or missing.
    pub keep_alive_shown: Option<u32>,
    /// Time without activity.
    pub socket_timeout: u32,
    /// Max bytes of a head, counted as Node does.
    pub max_header_size: u32,
    /// Max headers of a request, and max trailers; 0 disables the limit.
    pub max_headers: u32,
    /// Max connections; 0 disables the limit, -1 drops all.
    pub max_connections: i32,
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// Delay of SO_KEEPALIVE in milliseconds.
    pub keep_alive_initial_delay: u32,
    /// Respond to clients that have ended their side.
    pub allow_half_open: bool,
    /// Report connections when they arrive.
    pub announce_connections: bool,
}

/// The socket to listen on. One of `host`, `path` and `fd`.
#[napi(object, js_name = "ListenOptions")]
pub struct JsListenOptions {
    /// An IP address.
    pub host: Option<String>,
    /// Port, with `host`.
    pub port: Option<u32>,
    /// Path of a Unix socket.
    pub path: Option<String>,
    /// A bound socket. It remains the caller's: the engine uses a copy of the descriptor.
    pub fd: Option<i32>,
    /// Max connections waiting to be accepted.
    pub backlog: Option<i32>,
    /// Refuse IPv4 on an IPv6 socket.
    pub ipv6_only: Option<bool>,
    /// SO_REUSEPORT.
    pub reuse_port: Option<bool>,
    /// Makes a Unix socket readable for all users.
    pub readable_all: Option<bool>,
    /// Makes a Unix socket writable for all users.
    pub writable_all: Option<bool>,
}

/// The parts of the log lines of a server's own responses.
#[napi(object, js_name = "LinePlan")]
pub struct JsLinePlan {
    /// Line starts for a status below 400, below 500 and above; `null` where no line is written.
    pub begins: Vec<Option<String>>,
    /// Report requests whose response would have status 400 or above, instead of responding.
    pub reports_errors: bool,
    /// Text before the time.
    pub before_time: String,
    /// `none`, `millis`, `seconds` or `iso`.
    pub clock: String,
    /// Text between the time and the request's id.
    pub before_id: String,
    /// Text between the status and the response time.
    pub before_duration: String,
    /// Line ends for a status below 500, and for one above.
    pub ends: Vec<String>,
    /// The request header that carries ids, in lower case.
    pub id_header: Option<String>,
    /// Prefix of the ids that the engine generates.
    pub id_prefix: String,
    /// The share of lines below status 400 that are written, 0 to 1.
    pub share: f64,
    /// Number of waiting bytes from which they are reported as due.
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

/// Parses proxies: addresses, networks as `address/bits`, or `unix`. `None` if one is invalid.
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

/// Returns the socket to bind for `options`; `None` if they are invalid.
pub(crate) fn bind_of(options: &JsListenOptions) -> Option<Bind> {
    if let Some(fd) = options.fd {
        return Some(Bind::Fd(fd));
    }
    if let Some(path) = &options.path {
        return Some(Bind::Unix(path.into()));
    }
    let host = options.host.as_deref()?;
    let port = u16::try_from(options.port.unwrap_or(0)).ok()?;
    // A zone (`fe80::1%eth0`) is a number in the kernel.
    let address = match host.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, port),
        Err(_) => format!("[{host}]:{port}").parse().ok()?,
    };
    Some(Bind::Ip(address))
}
