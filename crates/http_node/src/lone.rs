//! Whether to wait a moment for the next request of a connection that is alone.
//!
//! A client that asks one thing at a time asks again within microseconds where it is near. To sleep until then, and to be
//! woken, takes longer than that, and `node:http`, which has more to do behind a response, is still awake, which made it faster with one
//! connection. So a turn looks for the next request a moment longer, as long as that has been worth it.

use std::time::{Duration, Instant};

/// How long a turn looks.
const SPIN: Duration = Duration::from_micros(40);
/// A client that sends again this soon, the time to wake included, is near.
const NEAR: Duration = Duration::from_micros(80);
/// The cost of looking in vain, in requests that came soon.
const PENALTY: i32 = 8;
const MOST: i32 = 16;

#[derive(Default)]
pub(crate) struct Lone {
    score: i32,
    answered: Option<Instant>,
}

impl Lone {
    pub fn patience(&self) -> Duration {
        if self.score > 0 { SPIN } else { Duration::ZERO }
    }

    /// A turn that began at `start` has found a request.
    pub fn came(&mut self, start: Instant) {
        let is_near = self
            .answered
            .take()
            .is_some_and(|answered| start.duration_since(answered) < NEAR);
        self.score = if is_near { MOST.min(self.score + 1) } else { 0 };
    }

    /// The turn is over without another request.
    pub fn ended(&mut self) {
        if self.score > 0 {
            self.score -= PENALTY;
        }
        self.answered = Some(Instant::now());
    }
}
