//! Answers the engine gives by itself: what the owner marked as the same for everybody, until it is too old.

use std::collections::HashMap;

use crate::date::Date;

/// An answer, and until when it is good.
struct Kept {
    /// Status line and headers, each ended by CRLF, without Date, Connection and the empty line.
    head: Box<[u8]>,
    body: Box<[u8]>,
    /// In milliseconds of the engine's clock, 0 forever.
    until_ms: u64,
}

/// The kept answers of a server, by the exact target of their request.
#[derive(Default)]
pub(crate) struct KeptAnswers(HashMap<Box<[u8]>, Kept>);

/// How the connection goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub keep_alive: bool,
    /// The keep-alive time sent to the client, in seconds; 0 for none.
    pub timeout_s: u32,
    /// Without the body.
    pub is_head: bool,
}

impl KeptAnswers {
    pub fn keep(&mut self, url: &[u8], head: &[u8], body: &[u8], until_ms: u64) {
        let kept = Kept {
            head: head.into(),
            body: body.into(),
            until_ms,
        };
        self.0.insert(url.into(), kept);
    }

    pub fn forget(&mut self, url: &[u8]) {
        self.0.remove(url);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the answer to `url` behind what `into` holds. False when there is none that is good at `now_ms`.
    pub fn answer(
        &self,
        url: &[u8],
        now_ms: u64,
        date: &mut Date,
        ending: Ending,
        into: &mut Vec<u8>,
    ) -> bool {
        let Some(kept) = self.0.get(url) else {
            return false;
        };
        if kept.until_ms != 0 && kept.until_ms <= now_ms {
            return false;
        }
        into.extend_from_slice(&kept.head);
        into.extend_from_slice(b"Date: ");
        into.extend_from_slice(date.now());
        if ending.keep_alive {
            into.extend_from_slice(b"\r\nConnection: keep-alive\r\n");
            if ending.timeout_s > 0 {
                let line = format!("Keep-Alive: timeout={}\r\n", ending.timeout_s);
                into.extend_from_slice(line.as_bytes());
            }
            into.extend_from_slice(b"\r\n");
        } else {
            into.extend_from_slice(b"\r\nConnection: close\r\n\r\n");
        }
        if !ending.is_head {
            into.extend_from_slice(&kept.body);
        }
        true
    }
}
