//! The parts of a request's header lines that a span shows.

use std::borrow::Cow;

use crate::attributes::{number, text};
use crate::forwarded::{self, Forwarded};
use crate::host::{host_and_port, hostname};
use crate::latin1::{trimmed, truncated, utf8};
use crate::trace_state;

/// The field of a span that holds its attributes.
pub(crate) const ATTRIBUTES: u32 = 9;

/// Facts of a request that its lines do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connected {
    pub is_tls: bool,
    pub is_http_10: bool,
}

impl Connected {
    pub fn scheme(self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }

    pub fn version(self) -> &'static str {
        if self.is_http_10 { "1.0" } else { "1.1" }
    }
}

/// The names of header lines that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Host,
    UserAgent,
    Forwarded,
    ForwardedFor,
    ForwardedHost,
    ForwardedProto,
    TraceParent,
    TraceState,
}

impl Name {
    /// Returns the name and the value of a line, if they matter.
    #[inline]
    pub fn of(line: &[u8]) -> Option<(Self, &[u8])> {
        // Most lines have another first letter.
        let candidates: &[(&[u8], Self)] = match line.first()? | 0x20 {
            b'h' => &[(b"host", Self::Host)],
            b'u' => &[(b"user-agent", Self::UserAgent)],
            b'f' => &[(b"forwarded", Self::Forwarded)],
            b't' => &[
                (b"traceparent", Self::TraceParent),
                (b"tracestate", Self::TraceState),
            ],
            b'x' => &[
                (b"x-forwarded-for", Self::ForwardedFor),
                (b"x-forwarded-host", Self::ForwardedHost),
                (b"x-forwarded-proto", Self::ForwardedProto),
            ],
            _ => return None,
        };
        let (name, found) = candidates.iter().find(|(name, _)| {
            line.get(name.len()) == Some(&b':') && line[..name.len()].eq_ignore_ascii_case(name)
        })?;
        Some((*found, trimmed(&line[name.len() + 1..])))
    }
}

/// Header lines that were read.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Attributes of a span, encoded.
    pub attributes: Vec<u8>,
    /// True if `client.address` is one of them.
    pub has_client_address: bool,
    /// True if the target can be read as a URL of this host.
    pub is_host_valid: bool,
    pub trace_state: Option<Box<str>>,
}

/// Values of the lines that matter. Node joins lines of the same name, but for the first two.
#[derive(Default)]
struct Values<'a> {
    host: Option<&'a [u8]>,
    user_agent: Option<&'a [u8]>,
    forwarded: Option<Cow<'a, [u8]>>,
    forwarded_for: Option<Cow<'a, [u8]>>,
    forwarded_host: Option<Cow<'a, [u8]>>,
    forwarded_proto: Option<Cow<'a, [u8]>>,
    trace_state: Option<Cow<'a, [u8]>>,
}

impl Head {
    /// Reads header lines; that of `traceparent` is not its part. Texts are cut at `limit`.
    pub fn read<'a>(lines: impl Iterator<Item = &'a [u8]>, how: Connected, limit: u32) -> Self {
        let mut values = Values::default();
        for line in lines {
            values.add(line);
        }
        let mut head = Self {
            trace_state: values
                .trace_state
                .as_deref()
                .and_then(trace_state::normalized)
                .map(String::into_boxed_str),
            is_host_valid: values
                .host
                .is_none_or(|host| host.is_empty() || hostname(&utf8(host)).is_some()),
            ..Self::default()
        };
        let out = &mut head.attributes;
        let mut put = |key: &str, value: &str| {
            text(out, ATTRIBUTES, key, truncated(value, limit).as_bytes());
        };
        put("url.scheme", how.scheme());
        put("network.protocol.version", how.version());
        if let Some(user_agent) = values.user_agent {
            put("user_agent.original", &utf8(user_agent));
        }
        let proxies = values.forwarded.as_deref().and_then(forwarded::parse);
        let proxies = proxies.unwrap_or_default();
        if let Some(client) = values.client_address(&proxies) {
            put("client.address", &client);
            head.has_client_address = true;
        }
        if let Some((host, port)) = values.server_address(&proxies, how) {
            put("server.address", &utf8(host));
            if let Some(port) = port {
                put_port(&mut head.attributes, port);
            }
        }
        head
    }
}

impl<'a> Values<'a> {
    fn add(&mut self, line: &'a [u8]) {
        let Some((name, value)) = Name::of(line) else {
            return;
        };
        let place = match name {
            Name::Host => {
                self.host.get_or_insert(value);
                return;
            }
            Name::UserAgent => {
                self.user_agent.get_or_insert(value);
                return;
            }
            Name::TraceParent => return,
            Name::Forwarded => &mut self.forwarded,
            Name::ForwardedFor => &mut self.forwarded_for,
            Name::ForwardedHost => &mut self.forwarded_host,
            Name::ForwardedProto => &mut self.forwarded_proto,
            Name::TraceState => &mut self.trace_state,
        };
        *place = Some(match place.take() {
            None => Cow::Borrowed(value),
            Some(before) => Cow::Owned([&before, b", ".as_slice(), value].concat()),
        });
    }

    fn client_address(&self, proxies: &[Forwarded]) -> Option<String> {
        let named = proxies.iter().find(|proxy| !proxy.for_.is_empty());
        let input = match (named, &self.forwarded_for) {
            (Some(proxy), _) => utf8(&proxy.for_),
            (None, Some(list)) if !list.is_empty() => {
                let first = list.split(|byte| *byte == b',').next().unwrap_or_default();
                utf8(trimmed(first))
            }
            _ => return None,
        };
        Some(hostname(&input).unwrap_or_else(|| input.into_owned()))
    }

    fn server_address<'b>(
        &'b self,
        proxies: &'b [Forwarded],
        how: Connected,
    ) -> Option<(&'b [u8], Option<&'b [u8]>)> {
        if let Some(proxy) = proxies.iter().find(|proxy| !proxy.host.is_empty()) {
            return Some(host_and_port(&proxy.host, proxy.proto.as_deref()));
        }
        if let Some(host) = &self.forwarded_host {
            return Some(host_and_port(host, self.forwarded_proto.as_deref()));
        }
        let host = self.host.filter(|host| !host.is_empty())?;
        Some(host_and_port(host, Some(how.scheme().as_bytes())))
    }
}

/// Writes `Number(port)`.
fn put_port(out: &mut Vec<u8>, port: &[u8]) {
    let text = utf8(port);
    let text = text.trim();
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let is_decimal = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let value = match (text, hex) {
        ("", _) => 0.0,
        (_, Some(digits)) => u64::from_str_radix(digits, 16).map_or(f64::NAN, |port| port as f64),
        _ if text.bytes().all(is_decimal) => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    number(out, ATTRIBUTES, "server.port", value);
}
