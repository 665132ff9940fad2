//! Responses to be kept, as JavaScript passes them.

use http_engine::wire::identity;
use http_engine::{Fill, Identity, KeyPlan, ResponseParts, StoredResponse};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

/// A response to be kept. Texts consist of characters up to U+00FF, as they are sent.
#[napi(object, object_to_js = false, js_name = "Fill")]
pub struct JsFill {
    /// The exact request target.
    pub target: String,
    /// Identity that the response belongs to: one of `IDENTITY`.
    pub identity: u32,
    /// Other parts of the request it depends on: the header or cookie of its identity, and headers in lower case.
    pub names: Vec<String>,
    /// Their values in the original request.
    pub values: Vec<Option<String>>,
    /// The codings between which accept-encoding chooses, if it is one of the names: a list of `ENCODING`.
    pub encodings: u32,
    /// The status code.
    pub status: u32,
    /// The status line and the headers before `Date`, each terminated by CRLF.
    pub head: String,
    /// Headers after `Connection`.
    pub tail: String,
    /// The status line and headers of its 304; empty without an ETag.
    pub not_modified: String,
    /// The ETag, or empty.
    pub etag: String,
    /// True if it has a `Last-Modified` header.
    pub has_last_modified: bool,
    /// The body.
    pub body: Uint8Array,
    /// Freshness lifetime in milliseconds.
    pub fresh_ms: f64,
    /// Time in milliseconds for which it may be sent after that.
    pub stale_ms: f64,
    /// Tags of the data it is made from.
    pub tags: Vec<String>,
    /// Ticket of the time its generation began; defaults to now.
    pub ticket: Option<f64>,
    /// If true, it is kept only if the last offered response was the same.
    pub is_offer: bool,
    /// Number of the log line written for it; 0 for none.
    pub line: u32,
    /// Number of the route of its requests, for an observer; 0 for none.
    pub route: u32,
}

/// Returns the bytes of a text of characters up to U+00FF.
pub(crate) fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|char| char as u8).collect()
}

impl From<JsFill> for Fill {
    fn from(fill: JsFill) -> Self {
        let response = StoredResponse::new(ResponseParts {
            head: &latin1(&fill.head),
            tail: &latin1(&fill.tail),
            not_modified: &latin1(&fill.not_modified),
            etag: &latin1(&fill.etag),
            body: &fill.body,
            status: fill.status as u16,
            line: fill.line,
            route: fill.route,
            has_last_modified: fill.has_last_modified,
        });
        let identity = match fill.identity {
            identity::ANY_COOKIES => Identity::AnyCookies,
            identity::PUBLIC => Identity::Public,
            identity::HEADER => Identity::Header,
            identity::COOKIE => Identity::Cookie,
            _ => Identity::Anonymous,
        };
        let plan = KeyPlan {
            identity,
            names: fill.names.iter().map(|name| latin1(name)).collect(),
            encodings: fill.encodings,
        };
        let value = |value: &Option<String>| value.as_deref().map(latin1);
        Self {
            target: latin1(&fill.target),
            plan,
            values: fill.values.iter().map(value).collect(),
            response,
            // `as` rounds towards zero and saturates; NaN becomes 0.
            fresh_ms: fill.fresh_ms as u64,
            stale_ms: fill.stale_ms as u64,
            tags: fill.tags,
            ticket: fill.ticket.map(|ticket| ticket as u64),
            is_offer: fill.is_offer,
        }
    }
}
