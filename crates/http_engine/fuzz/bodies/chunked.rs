//! A chunked body is read the same, however it is cut.

use http_engine::chunked::{Chunked, Found};
use http_engine::head::Limits;

const LIMITS: Limits = Limits {
    size: 1024,
    headers: 16,
};

#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    data: Vec<u8>,
    trailers: Vec<u8>,
    /// How much was taken, and what is wrong there.
    end: Option<usize>,
    problem: Option<(http_engine::problem::ProblemKind, usize)>,
}

pub fn run(bytes: &[u8]) {
    let Some((step, bytes)) = bytes.split_first() else {
        return;
    };
    let whole = read(bytes, bytes.len().max(1));
    let pieces = read(bytes, usize::from(*step) + 1);
    assert_eq!(whole.data, pieces.data);
    assert_eq!(whole.trailers, pieces.trailers);
    assert_eq!(whole.end, pieces.end);
    assert_eq!(whole.problem.is_some(), pieces.problem.is_some());
    if let Some(end) = whole.end {
        check(&bytes[..end], &whole);
    }
}

fn read(bytes: &[u8], step: usize) -> Outcome {
    let mut reader = Chunked::new(LIMITS);
    let mut outcome = Outcome {
        data: Vec::new(),
        trailers: Vec::new(),
        end: None,
        problem: None,
    };
    let mut at = 0;
    for piece in bytes.chunks(step) {
        let mut rest = piece;
        while !rest.is_empty() {
            let (taken, found) = match reader.next(rest) {
                Ok(read) => read,
                Err(problem) => {
                    assert!(problem.at <= rest.len() + 1, "{problem:?} in {rest:?}");
                    outcome.problem = Some((problem.kind, at + problem.at));
                    return outcome;
                }
            };
            assert!(taken > 0 && taken <= rest.len());
            at += taken;
            match found {
                Found::Data(length) => outcome.data.extend(&rest[taken - length..taken]),
                Found::Chunk => {}
                Found::More => assert_eq!(taken, rest.len()),
                Found::End => {
                    outcome.trailers = reader.trailers().to_vec();
                    outcome.end = Some(at);
                    return outcome;
                }
            }
            rest = &rest[taken..];
        }
    }
    outcome
}

/// Reads it again, line by line, as the grammar has it.
fn check(mut bytes: &[u8], outcome: &Outcome) {
    let mut data: Vec<u8> = Vec::new();
    loop {
        let line = bytes
            .windows(2)
            .position(|window| window == b"\r\n")
            .expect("a size line");
        let digits = bytes[..line]
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        assert!(digits > 0);
        let text = std::str::from_utf8(&bytes[..digits]).expect("digits");
        let size = u64::from_str_radix(text, 16).expect("a size") as usize;
        bytes = &bytes[line + 2..];
        if size == 0 {
            break;
        }
        data.extend(&bytes[..size]);
        assert_eq!(&bytes[size..size + 2], b"\r\n");
        bytes = &bytes[size + 2..];
    }
    assert_eq!(data, outcome.data);
    assert!(bytes == b"\r\n" && outcome.trailers.is_empty() || bytes == outcome.trailers);
}
