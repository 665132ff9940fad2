//! Header names that cross to JavaScript as a number.

/// Names in their usual case; the index plus 1 crosses.
pub const KNOWN_NAMES: [&str; 72] = [
    "Host",
    "User-Agent",
    "Accept",
    "Accept-Encoding",
    "Accept-Language",
    "Connection",
    "Cookie",
    "Content-Type",
    "Content-Length",
    "Authorization",
    "Cache-Control",
    "Referer",
    "Origin",
    "If-None-Match",
    "If-Modified-Since",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
    "X-Forwarded-Host",
    "X-Forwarded-Port",
    "X-Real-IP",
    "X-Request-ID",
    "X-Requested-With",
    "Transfer-Encoding",
    "Upgrade",
    "Upgrade-Insecure-Requests",
    "Sec-Fetch-Dest",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Site",
    "Sec-Fetch-User",
    "Sec-CH-UA",
    "Sec-CH-UA-Mobile",
    "Sec-CH-UA-Platform",
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Version",
    "Sec-WebSocket-Extensions",
    "Sec-WebSocket-Protocol",
    "Sec-GPC",
    "DNT",
    "Pragma",
    "Priority",
    "Range",
    "If-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Expect",
    "Trailer",
    "TE",
    "Via",
    "Forwarded",
    "From",
    "Date",
    "Keep-Alive",
    "Proxy-Connection",
    "Proxy-Authorization",
    "Content-Encoding",
    "Content-Disposition",
    "Content-Language",
    "Content-MD5",
    "Accept-Charset",
    "Access-Control-Request-Method",
    "Access-Control-Request-Headers",
    "traceparent",
    "tracestate",
    "baggage",
    "X-Amzn-Trace-Id",
    "X-B3-TraceId",
    "X-B3-SpanId",
    "X-API-Key",
    "X-CSRF-Token",
    "CF-Ray",
    "CF-Connecting-IP",
    "Idempotency-Key",
];

/// The form in which a name crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// In the case of the table.
    Usual(u8),
    /// In lower case.
    Lower(u8),
    /// Its bytes are needed.
    No,
}

pub(crate) fn find(name: &[u8]) -> Known {
    for (index, known) in KNOWN_NAMES.iter().enumerate() {
        let known = known.as_bytes();
        if known.len() != name.len() || !known.eq_ignore_ascii_case(name) {
            continue;
        }
        let id = index as u8 + 1;
        return if known == name {
            Known::Usual(id)
        } else if !name.iter().any(u8::is_ascii_uppercase) {
            Known::Lower(id)
        } else {
            Known::No
        };
    }
    Known::No
}
