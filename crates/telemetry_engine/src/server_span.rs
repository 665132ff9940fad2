//! The span of a request, as `@opentelemetry/instrumentation-http` makes it.

use crate::attributes::{AttributeSet, integer, text};
use crate::changes::{Changes, Status, status};
use crate::exchange::{Exchange, Peer, Traced};
use crate::head::ATTRIBUTES;
use crate::latin1::{truncated, utf8};
use crate::metrics::Outcome;
use crate::protobuf::{bytes, fixed32, fixed64, message, number};
use crate::settings::Settings;
use crate::url;

/// More attributes than a request has by itself.
const MANY: u32 = 24;

/// The kind of spans of servers.
const SERVER: u64 = 2;

/// Flags of OTLP: sampled; the next bit is known; the parent is remote.
const SAMPLED: u32 = 1;
const IS_REMOTE_KNOWN: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

pub(crate) struct ServerSpan<'a> {
    pub exchange: &'a Exchange,
    pub traced: &'a Traced,
    pub outcome: Outcome,
    pub route: Option<&'a str>,
    pub peer: Option<&'a Peer>,
    /// Nanoseconds since 1970.
    pub started: u64,
    pub ended: u64,
    pub settings: &'a Settings,
}

impl ServerSpan<'_> {
    /// Writes the content of a message Span.
    pub fn write(&self, out: &mut Vec<u8>) {
        let changes = self.exchange.changes.as_deref();
        let parent = self.traced.parent;
        bytes(out, 1, &self.traced.trace_id);
        bytes(out, 2, &self.traced.span_id);
        if let Some(parent) = parent {
            if let Some(state) = &self.traced.head.trace_state {
                bytes(out, 3, state.as_bytes());
            }
            bytes(out, 4, &parent.span_id);
        }
        self.write_name(out, changes);
        number(out, 6, SERVER);
        fixed64(out, 7, self.started);
        fixed64(out, 8, self.ended);
        self.write_attributes(out, changes);
        if let Some(changes) = changes {
            for (listed, dropped) in [(&changes.events, 12), (&changes.links, 14)] {
                for field in &listed.fields {
                    out.extend_from_slice(field);
                }
                if listed.dropped > 0 {
                    number(out, dropped, listed.dropped.into());
                }
            }
        }
        self.write_status(out, changes);
        let remote = if parent.is_some() { IS_REMOTE } else { 0 };
        fixed32(out, 16, SAMPLED | IS_REMOTE_KNOWN | remote);
    }

    fn write_name(&self, out: &mut Vec<u8>, changes: Option<&Changes>) {
        let changed = changes.and_then(|changes| changes.name.as_deref());
        let method = self.method();
        match (self.route, changed) {
            (Some(route), _) if !route.is_empty() => message(out, 5, |out| {
                out.extend_from_slice(method.as_bytes());
                out.push(b' ');
                out.extend_from_slice(route.as_bytes());
            }),
            (_, Some(name)) => bytes(out, 5, name.as_bytes()),
            _ => bytes(out, 5, method.as_bytes()),
        }
    }

    fn write_attributes(&self, out: &mut Vec<u8>, changes: Option<&Changes>) {
        let changed = changes.map_or(&[][..], |changes| &changes.attributes);
        let limit = self.settings.attribute_count_limit;
        if changed.is_empty() && limit >= MANY {
            self.write_first_attributes(out);
            self.write_last_attributes(out);
            return;
        }
        let mut set = AttributeSet::new(limit);
        let mut written = Vec::new();
        self.write_first_attributes(&mut written);
        set.set_all(&written);
        set.set_all(changed);
        written.clear();
        self.write_last_attributes(&mut written);
        set.set_all(&written);
        set.write(out, ATTRIBUTES);
        if set.dropped > 0 {
            number(out, 10, set.dropped.into());
        }
    }

    /// Attributes that a span begins with.
    fn write_first_attributes(&self, out: &mut Vec<u8>) {
        let head = &self.traced.head;
        let name = self.exchange.method.name();
        let method = self.method();
        text(out, ATTRIBUTES, "http.request.method", name.as_bytes());
        if method != name {
            self.put(out, "http.request.method_original", &method);
        }
        out.extend_from_slice(&head.attributes);
        if let Some(peer) = self.peer {
            out.extend_from_slice(&peer.attributes);
            if !head.has_client_address {
                out.extend_from_slice(&peer.client);
            }
        }
        if !head.is_host_valid {
            return;
        }
        let redacted = &self.settings.redacted_parameters;
        if let Some(target) = url::parse(self.target(), redacted) {
            self.put(out, "url.path", &target.path);
            if let Some(query) = target.query {
                self.put(out, "url.query", &query);
            }
        }
    }

    /// Attributes that it gets when it ends, whatever was set before.
    fn write_last_attributes(&self, out: &mut Vec<u8>) {
        if let Outcome::Status(status) = self.outcome {
            integer(out, ATTRIBUTES, "http.response.status_code", status.into());
        }
        if let Some(route) = self.route {
            self.put(out, "http.route", route);
        }
        if let Some(error) = self.outcome.error_type() {
            text(out, ATTRIBUTES, "error.type", error.as_bytes());
        }
    }

    fn write_status(&self, out: &mut Vec<u8>, changes: Option<&Changes>) {
        let is_error = !matches!(self.outcome, Outcome::Status(100..500));
        let changed = changes.map(|changes| &changes.status);
        let is_ok = changed.is_some_and(|changed| changed.code == status::OK);
        let own = Status {
            code: if is_error {
                status::ERROR
            } else {
                status::UNSET
            },
            message: String::new(),
        };
        let status = changed.filter(|_| is_ok || !is_error).unwrap_or(&own);
        message(out, 15, |out| status.write(out));
    }

    fn put(&self, out: &mut Vec<u8>, key: &str, value: &str) {
        let value = truncated(value, self.settings.attribute_value_length_limit);
        text(out, ATTRIBUTES, key, value.as_bytes());
    }

    fn method(&self) -> std::borrow::Cow<'_, str> {
        let line = &self.exchange.line;
        utf8(&line[..memchr::memchr(b' ', line).unwrap_or(line.len())])
    }

    fn target(&self) -> &[u8] {
        let line = &self.exchange.line;
        memchr::memchr(b' ', line).map_or(&[], |at| &line[at + 1..])
    }
}
