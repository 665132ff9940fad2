//! The parts of a request's header lines that a span shows.

use std::borrow::Cow;

use crate::attributes::{integer, number, text};
use crate::forwarded::{self, Forwarded};
use crate::host::{host_and_port, hostname};
use crate::latin1::{trimmed, truncated, utf8};
use crate::trace_parent::{self, TraceParent};
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

/// Header lines that were read.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Attributes of a span, encoded.
    pub attributes: Vec<u8>,
    /// True if `client.address` is one of them.
    pub has_client_address: bool,
    /// True if the target can be read as a URL of this host.
    pub is_host_valid: bool,
    /// True if a line is named `traceparent`.
    pub has_trace_parent: bool,
    pub trace_parent: Option<TraceParent>,
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
    trace_parent: Option<Cow<'a, [u8]>>,
    trace_state: Option<Cow<'a, [u8]>>,
}

impl Head {
    /// Reads header lines, each with its line end. Texts are cut at `limit`.
    pub fn read<'a>(lines: impl Iterator<Item = &'a [u8]>, how: Connected, limit: u32) -> Self {
        let mut values = Values::default();
        for line in lines {
            values.add(line);
        }
        let mut head = Self {
            has_trace_parent: values.trace_parent.is_some(),
            trace_parent: values.trace_parent.as_deref().and_then(trace_parent::parse),
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
        let Some(colon) = memchr::memchr(b':', line) else {
            return;
        };
        let name = &line[..colon];
        let place = match colon {
            4 if name.eq_ignore_ascii_case(b"host") => {
                self.host.get_or_insert(trimmed(&line[colon + 1..]));
                return;
            }
            10 if name.eq_ignore_ascii_case(b"user-agent") => {
                self.user_agent.get_or_insert(trimmed(&line[colon + 1..]));
                return;
            }
            9 if name.eq_ignore_ascii_case(b"forwarded") => &mut self.forwarded,
            10 if name.eq_ignore_ascii_case(b"tracestate") => &mut self.trace_state,
            11 if name.eq_ignore_ascii_case(b"traceparent") => &mut self.trace_parent,
            15 if name.eq_ignore_ascii_case(b"x-forwarded-for") => &mut self.forwarded_for,
            16 if name.eq_ignore_ascii_case(b"x-forwarded-host") => &mut self.forwarded_host,
            17 if name.eq_ignore_ascii_case(b"x-forwarded-proto") => &mut self.forwarded_proto,
            _ => return,
        };
        let value = trimmed(&line[colon + 1..]);
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

/// `Number(port)`: anything but digits is not a number.
fn put_port(out: &mut Vec<u8>, port: &[u8]) {
    let digits = std::str::from_utf8(port).unwrap_or("-").trim();
    match digits.parse::<u64>() {
        Ok(port) => integer(out, ATTRIBUTES, "server.port", port),
        Err(_) if digits.is_empty() => integer(out, ATTRIBUTES, "server.port", 0),
        Err(_) => number(out, ATTRIBUTES, "server.port", f64::NAN),
    }
}
