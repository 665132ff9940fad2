//! An answer that is to be kept, as JavaScript has it.

use http_engine::wire::identity;
use http_engine::{Fill, Identity, KeptAnswer, Parts, Plan};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

/// An answer to be kept. Texts are of characters up to U+00FF, as they are sent.
#[napi(object, object_to_js = false, js_name = "Fill")]
pub struct JsFill {
    /// The exact target it answers.
    pub target: String,
    /// Whose it is: one of `IDENTITY`.
    pub identity: u32,
    /// What else of a request it depends on: the header or cookie of its identity, and headers in lower case.
    pub names: Vec<String>,
    /// Their values in its own request.
    pub values: Vec<Option<String>>,
    /// The codings between which accept-encoding chooses, if it is one of the names: a list of `ENCODING`.
    pub encodings: u32,
    /// Its status.
    pub status: u32,
    /// The status line and the headers before `Date`, each ended by CRLF.
    pub head: String,
    /// Headers behind `Connection`.
    pub tail: String,
    /// The status line and headers of its 304; empty without an ETag.
    pub not_modified: String,
    /// Its ETag, or empty.
    pub etag: String,
    /// It has a `Last-Modified`.
    pub has_last_modified: bool,
    /// The body.
    pub body: Uint8Array,
    /// How long it is valid.
    pub fresh_ms: f64,
    /// How long it may be sent behind that.
    pub stale_ms: f64,
    /// What it is made of.
    pub tags: Vec<String>,
    /// When it was begun; now, when it is missing.
    pub ticket: Option<f64>,
    /// It is kept only if the last one was the same.
    pub is_offer: bool,
    /// Which line is written for it; 0 is none.
    pub line: u32,
}

/// The bytes of a text of such characters.
pub(crate) fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|char| char as u8).collect()
}

impl From<JsFill> for Fill {
    fn from(fill: JsFill) -> Self {
        let answer = KeptAnswer::new(Parts {
            head: &latin1(&fill.head),
            tail: &latin1(&fill.tail),
            not_modified: &latin1(&fill.not_modified),
            etag: &latin1(&fill.etag),
            body: &fill.body,
            status: fill.status as u16,
            line: fill.line,
            has_last_modified: fill.has_last_modified,
        });
        let identity = match fill.identity {
            identity::ANY_COOKIES => Identity::AnyCookies,
            identity::PUBLIC => Identity::Public,
            identity::HEADER => Identity::Header,
            identity::COOKIE => Identity::Cookie,
            _ => Identity::Anonymous,
        };
        let plan = Plan {
            identity,
            names: fill.names.iter().map(|name| latin1(name)).collect(),
            encodings: fill.encodings,
        };
        let value = |value: &Option<String>| value.as_deref().map(latin1);
        Self {
            target: latin1(&fill.target),
            plan,
            values: fill.values.iter().map(value).collect(),
            answer,
            // `as` rounds towards zero and takes the nearest number there is; NaN becomes 0.
            fresh_ms: fill.fresh_ms as u64,
            stale_ms: fill.stale_ms as u64,
            tags: fill.tags,
            ticket: fill.ticket.map(|ticket| ticket as u64),
            is_offer: fill.is_offer,
        }
    }
}
