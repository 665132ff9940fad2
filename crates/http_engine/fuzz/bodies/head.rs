//! The fast reader and the one that explains agree on every head.

use http_engine::diagnose::{self, Progress};
use http_engine::head::{self, Limits};
use http_engine::problem::ProblemKind;

const LIMITS: Limits = Limits {
    size: 1024,
    headers: 16,
};

pub fn run(bytes: &[u8]) {
    // Both start at the method: the engine has skipped empty lines. What HTTP/2 begins with has an empty line inside.
    if matches!(bytes.first(), Some(b'\r' | b'\n')) || bytes.starts_with(b"PRI ") {
        return;
    }
    match head::bounds(bytes) {
        Some(bounds) => complete(bytes, bounds),
        None => {
            // Either something is wrong, or more may come: then the head is good so far and has no end.
            if diagnose::head(bytes, LIMITS).is_none() {
                assert!(!ends(bytes), "a good head that was not taken");
            }
        }
    }
    // What is wrong with a beginning stays wrong. Only that it is too long may be noticed sooner. It is the same however the
    // beginning came in.
    let mut by_byte = Progress::of_head(LIMITS);
    for length in 0..bytes.len() {
        let found = diagnose::head(&bytes[..length], LIMITS);
        assert_eq!(by_byte.read(&bytes[..length]), found);
        if let Some(problem) = found {
            let whole = diagnose::head(bytes, LIMITS).expect("still wrong");
            assert!(problem.kind == whole.kind || problem.kind == ProblemKind::HeaderOverflow);
            break;
        }
    }
}

fn complete(bytes: &[u8], bounds: head::Bounds) {
    let all = &bytes[..bounds.end];
    let block = &bytes[bounds.line.end..bounds.end];
    let url = bounds.line.url_end - bounds.line.url_start;
    let mut counted = 0;
    let read = head::read_block(block, |name, name_at, value, value_at| {
        assert_eq!(&block[name_at..name_at + name.len()], name);
        assert_eq!(&block[value_at..value_at + value.len()], value);
        assert!(!value.contains(&b'\n') && !value.contains(&b'\r') && !value.contains(&0));
        counted += name.len() + value.len();
    });
    match read {
        Ok(facts) => {
            assert!(counted <= facts.counted);
            assert!(!(facts.chunked && facts.content_length.is_some()));
            let is_short = facts.counted + url < LIMITS.size && facts.headers <= LIMITS.headers;
            assert_eq!(diagnose::head(all, LIMITS).is_none(), is_short);
        }
        Err(_) => assert!(diagnose::head(all, LIMITS).is_some(), "nothing wrong found"),
    }
}

fn ends(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|window| window == b"\r\n\r\n")
}
