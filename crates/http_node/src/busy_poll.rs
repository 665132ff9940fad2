//! Decides whether a turn waits a moment for the next request of a lone connection.
//!
//! A nearby client with one request in flight sends the next within microseconds. Sleeping until then, and being woken, takes
//! longer than that; `node:http`, which has more work to do after a response, is still awake, which made it faster with one
//! connection. So a turn polls for the next request a moment longer, as long as that pays off.

use std::time::{Duration, Instant};

/// Max polling time of a turn.
const MAX_POLL: Duration = Duration::from_micros(40);
/// A client that sends again within this time, including the time to wake, is near.
const MAX_NEAR_DELAY: Duration = Duration::from_micros(80);
/// The cost of a fruitless poll, in requests that came soon.
const PENALTY: i32 = 8;
const MAX_SCORE: i32 = 16;

#[derive(Default)]
pub(crate) struct BusyPoll {
    score: i32,
    responded: Option<Instant>,
}

impl BusyPoll {
    pub fn duration(&self) -> Duration {
        if self.score > 0 {
            MAX_POLL
        } else {
            Duration::ZERO
        }
    }

    /// Records that a turn that began at `start` has found a request.
    pub fn on_request(&mut self, start: Instant) {
        let is_near = self
            .responded
            .take()
            .is_some_and(|responded| start.duration_since(responded) < MAX_NEAR_DELAY);
        self.score = if is_near {
            MAX_SCORE.min(self.score + 1)
        } else {
            0
        };
    }

    /// Records that the turn is over without another request.
    pub fn on_miss(&mut self) {
        if self.score > 0 {
            self.score -= PENALTY;
        }
        self.responded = Some(Instant::now());
    }
}
