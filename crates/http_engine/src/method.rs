//! The methods that llhttp accepts for HTTP, the frequent ones first: their index crosses to JavaScript.

/// Methods, by index.
pub const METHODS: [&str; 35] = [
    "GET",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "HEAD",
    "OPTIONS",
    "CONNECT",
    "TRACE",
    "COPY",
    "LOCK",
    "MKCOL",
    "MOVE",
    "PROPFIND",
    "PROPPATCH",
    "SEARCH",
    "UNLOCK",
    "BIND",
    "REBIND",
    "UNBIND",
    "ACL",
    "REPORT",
    "MKACTIVITY",
    "CHECKOUT",
    "MERGE",
    "M-SEARCH",
    "NOTIFY",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PURGE",
    "MKCALENDAR",
    "LINK",
    "UNLINK",
    "SOURCE",
    "QUERY",
];

/// The index of GET.
pub(crate) const GET: u8 = 0;
/// The index of HEAD.
pub(crate) const HEAD: u8 = 5;
/// The index of CONNECT, whose target is an authority.
pub(crate) const CONNECT: u8 = 7;

/// Methods of other protocols that llhttp recognises: it parses them before it refuses them.
pub(crate) const FOREIGN: [&str; 11] = [
    "DESCRIBE",
    "ANNOUNCE",
    "SETUP",
    "PLAY",
    "PAUSE",
    "TEARDOWN",
    "GET_PARAMETER",
    "SET_PARAMETER",
    "REDIRECT",
    "RECORD",
    "FLUSH",
];

pub(crate) fn find(name: &[u8]) -> Option<u8> {
    METHODS
        .iter()
        .position(|method| method.as_bytes() == name)
        .map(|index| index as u8)
}
