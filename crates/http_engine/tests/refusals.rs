//! Input that Node 24 refuses, with the reason and the position it reports. Recorded from Node: the conformance suite of
//! `@redline/http` compares both with each other.

#![cfg(target_os = "linux")]

use http_engine::chunked::{Chunked, Found};
use http_engine::diagnose;
use http_engine::head::{self, Limits};
use http_engine::problem::{PROBLEMS, Problem};

const LIMITS: Limits = Limits {
    size: 16 * 1024,
    headers: 1000,
};

/// Request, reason, number of valid bytes.
#[rustfmt::skip]
const REFUSED: &[(&[u8], &str, usize)] = &[
    (b"GET / HTTP/1.2\r\nHost: a\r\n\r\n", "Invalid HTTP version", 14),
    (b"GET / HTTP/x.1\r\n", "Invalid major version", 11),
    (b"GET / HTTP/1x", "Expected dot", 12),
    (b"GET / HTTP/1.x\r\n", "Invalid minor version", 13),
    (b"GET / HTTP/1.11\r\n", "Expected CRLF after version", 14),
    (b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "Expected CRLF after version", 14),
    (b"GET / http/1.1\r\n", "Expected HTTP/, RTSP/ or ICE/", 6),
    (b"GET / FOO/1.1\r\n", "Expected HTTP/, RTSP/ or ICE/", 6),
    (b"FOO / HTTP/1.1\r\n\r\n", "Invalid method encountered", 1),
    (b"get / HTTP/1.1\r\n\r\n", "Invalid method encountered", 0),
    (b"GETX / HTTP/1.1\r\n\r\n", "Expected space after method", 3),
    (b"G(T / H", "Invalid method encountered", 1),
    (b"GE / HTTP", "Invalid method encountered", 2),
    (b"GET/ HTTP/1.1", "Expected space after method", 3),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "Pause on PRI/Upgrade", 24),
    (b"PRI / HTTP/1.1\r\nHost: a\r\n\r\n", "Expected HTTP/2 Connection Preface", 16),
    (b"GET / HTTP/1.1\r\nContent-Length : 1\r\n\r\n", "Invalid header field char", 31),
    (b"DESCRIBE / HTTP/1.1\r\n\r\n", "Invalid method for HTTP/x.x request", 15),
    (b" GET / HTTP/1.1\r\n", "Invalid method encountered", 0),
    (b"GET\t/ HTTP/1.1\r\n", "Expected space after method", 3),
    (b"GET /\tHTTP/1.1\r\n", "Invalid characters in url", 6),
    (b"GET /a\x01 HTTP/1.1\r\n", "Invalid char in url path", 6),
    (b"GET /a\x00 HTTP/1.1\r\n", "Invalid char in url path", 6),
    (b"GET /a\x7f HTTP/1.1\r\n", "Invalid char in url path", 6),
    (b"GET /a\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", "Invalid char in url path", 6),
    (b"GET foo HTTP/1.1\r\n", "Invalid characters in url", 8),
    (b"GET 1 HTTP/1.1\r\n", "Unexpected start char in url", 4),
    (b"GET ?a HTTP/1.1\r\n", "Unexpected start char in url", 4),
    (b"GET http:/a HTTP/1.1\r\n", "Unexpected char in url schema", 10),
    (b"GET http://a\"b/ HTTP/1.1\r\nHost: a\r\n\r\n", "Unexpected char in url server", 12),
    (b"GET /a\x0c HTTP/1.1\r\nHost: a\r\n\r\n", "Invalid characters in url", 7),
    (b"CONNECT a#b HTTP/1.1\r\n", "Unexpected char in url server", 9),
    (b"GET / HTTP/1.1\nHost: a\n\n", "Expected CRLF after version", 15),
    (b"GET / HTTP/1.1\rX", "Expected CRLF after version", 15),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: b\nC: d\r\n\r\n", "Missing expected CR after header value", 29),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: b\rC: d\r\n\r\n", "Missing expected LF after header value", 30),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", "Unexpected whitespace after header value", 31),
    (b"GET / HTTP/1.1\r\n A: b\r\n\r\n", "Unexpected space after start line", 17),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n", "Invalid header token", 26),
    (b"GET / HTTP/1.1\r\nHost: a\r\nAbc\r\n\r\n", "Invalid header token", 28),
    (b"GET / HTTP/1.1\r\nHost: a\r\nAbc\n", "Invalid header token", 28),
    (b"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", "Invalid header token", 25),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA(b: c\r\n\r\n", "Invalid header token", 26),
    (b"GET / HTTP/1.1\r\nHost: a\r\n(b: c\r\n\r\n", "Invalid header token", 25),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: b\x00c\r\n\r\n", "Invalid header value char", 29),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: b\x01c\r\n\r\n", "Invalid header value char", 29),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: b\x7fc\r\n\r\n", "Invalid header value char", 29),
    (b"GET / HTTP/1.1\r\nHost: a\r\n\n", "Invalid header field char", 26),
    (b"GET / HTTP/1.1\r\nHost: a\r\n\rX", "Expected LF after headers", 26),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA:\nB: c\r\n\r\n", "Invalid header value char", 28),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: \rX\r\n\r\n", "Expected LF after CR", 29),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA\xe9: c\r\n\r\n", "Invalid header token", 26),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA\t: c\r\n\r\n", "Invalid header token", 26),
    (b"GET / HTTP/1.1\r\nHost: a\r\nA: b\x0cc\r\n\r\n", "Invalid header value char", 29),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "Duplicate Content-Length", 61),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "Duplicate Content-Length", 61),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\n", "Invalid character in Content-Length", 42),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n", "Invalid character in Content-Length", 42),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", "Empty Content-Length", 43),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\nA: b\r\n\r\n", "Missing expected CR after header value", 43),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3 4\r\n\r\n", "Invalid character in Content-Length", 44),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3,3\r\n\r\nabc", "Invalid character in Content-Length", 43),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n", "Content-Length overflow", 62),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\n", "Invalid character in Content-Length", 43),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", "Content-Length can't be present with Transfer-Encoding", 69),
    (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding can't be present with Content-Length", 63),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nabc", "Request has invalid `Transfer-Encoding`", 57),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc", "Request has invalid `Transfer-Encoding`", 53),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", "Invalid `Transfer-Encoding` header value", 53),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", "Invalid `Transfer-Encoding` header value", 53),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Invalid `Transfer-Encoding` header value", 74),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", "Invalid `Transfer-Encoding` header value", 74),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", "Empty Transfer-Encoding", 46),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "Request has invalid `Transfer-Encoding`", 57),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", "Invalid header value char", 45),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunkedx\r\n\r\n0\r\n\r\n", "Request has invalid `Transfer-Encoding`", 57),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", "Request has invalid `Transfer-Encoding`", 60),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", "Invalid `Transfer-Encoding` header value", 53),
    (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding can't be present with Content-Length", 62),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", "Missing expected CR after chunk size", 58),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n", "Missing expected CR after chunk data", 63),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n", "Invalid character in chunk size", 58),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n 3\r\nabc\r\n0\r\n\r\n", "Invalid character in chunk size", 56),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3g\r\n", "Invalid character in chunk size", 57),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n", "Invalid character in chunk size", 56),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabc", "Invalid character in chunk size", 56),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "Invalid character in chunk size", 56),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc", "Invalid character in chunk size", 57),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", "Chunk size overflow", 73),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;\r\nabc\r\n", "Invalid character in chunk extensions", 59),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\nabc\r\n", "Missing expected CR after chunk extension value", 61),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a b\r\n", "Invalid character in chunk extensions name", 60),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\"x\r\n", "Invalid character in chunk extensions quote value", 63),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\r\n", "Invalid character in chunk extensions quoted value", 63),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3; a=b\r\n", "Invalid character in chunk extensions", 59),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\"\n", "Missing expected CR after chunk extension value", 63),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\x01\r\n", "Invalid character in chunk extensions value", 61),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"\x01\"\r\n", "Invalid character in chunk extensions quoted value", 62),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\rX", "Expected LF after chunk size", 58),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX", "Expected LF after chunk data", 62),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\rX", "Expected LF after chunk data", 63),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA b\r\n\r\n", "Invalid header token", 60),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n", "Missing expected CR after header value", 63),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 3\r\n\r\n", "Content-Length can't be present with Transfer-Encoding", 74),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", "Invalid `Transfer-Encoding` header value", 79),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n", "Invalid header field char", 60),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\rX", "Expected LF after headers", 60),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n", "Unexpected whitespace after header value", 65),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\t\r\n", "Invalid character in chunk size", 58),
    (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"\\\x01\"\r\n", "Invalid quoted-pair in chunk extensions quoted value", 63),
];

/// Finds the problem of a request, as the engine does.
fn refuse(request: &[u8]) -> Option<Problem> {
    let Some(bounds) = head::bounds(request) else {
        return diagnose::head(request, LIMITS);
    };
    let block = &request[bounds.line.end..bounds.end];
    match head::read_block(block, |_, _, _, _| {}) {
        Err(_) => diagnose::head(&request[..bounds.end], LIMITS),
        Ok(facts) if facts.chunked => refuse_body(&request[bounds.end..]).map(|problem| Problem {
            at: problem.at + bounds.end,
            ..problem
        }),
        Ok(_) => None,
    }
}

fn refuse_body(body: &[u8]) -> Option<Problem> {
    let mut reader = Chunked::new(LIMITS);
    let mut at = 0;
    loop {
        match reader.next(&body[at..]) {
            Err(problem) => {
                return Some(Problem {
                    at: problem.at + at,
                    ..problem
                });
            }
            Ok((_, Found::End | Found::More)) => return None,
            Ok((taken, Found::Data(_) | Found::Chunk)) => at += taken,
        }
    }
}

#[test]
fn what_node_refuses_is_refused_for_the_same_reason_at_the_same_place() {
    for (request, reason, at) in REFUSED {
        let text = request.escape_ascii();
        let Some(problem) = refuse(request) else {
            panic!("{text} was taken");
        };
        assert_eq!(PROBLEMS[problem.kind as usize].1, *reason, "{text}");
        assert_eq!(problem.at, *at, "{text}");
    }
}
