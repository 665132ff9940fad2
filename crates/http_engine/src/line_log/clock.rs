//! The time of a line, formatted once a millisecond.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{push_decimal, push_thousandths};
use crate::date::civil;

/// The format of the time in a line, as in `pino.stdTimeFunctions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// No time.
    None,
    /// Milliseconds since 1970.
    Millis,
    /// Seconds since 1970, rounded.
    Seconds,
    /// The format of `Date.prototype.toISOString`.
    Iso,
}

/// The last formatted time.
pub(super) struct Stamp {
    clock: Clock,
    millis: u64,
    text: Vec<u8>,
    /// The end of its millisecond.
    until: Duration,
}

impl Stamp {
    /// Max characters.
    pub const MAX_LENGTH: usize = 24;

    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            millis: u64::MAX,
            text: Vec::with_capacity(Self::MAX_LENGTH),
            until: Duration::ZERO,
        }
    }

    /// Returns true if the text still applies at `now`, so that the system's clock need not be read.
    pub fn is_of(&self, now: Duration) -> bool {
        now < self.until
    }

    /// Returns the current time; `now` is the same moment by the other clock.
    pub fn refresh(&mut self, now: Duration) -> &[u8] {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.unwrap_or_default();
        let millis = time.as_millis() as u64;
        self.until = now + (Duration::from_millis(millis + 1) - time);
        self.at(millis)
    }

    pub(super) fn at(&mut self, millis: u64) -> &[u8] {
        if millis == self.millis {
            return &self.text;
        }
        self.millis = millis;
        self.text.clear();
        match self.clock {
            Clock::None => {}
            Clock::Millis => push_decimal(&mut self.text, millis),
            Clock::Seconds => push_decimal(&mut self.text, (millis + 500) / 1000),
            Clock::Iso => push_iso(&mut self.text, millis),
        }
        &self.text
    }
}

fn push_iso(into: &mut Vec<u8>, millis: u64) {
    let seconds = millis / 1000;
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let month = month + 1;
    // Writing to a vector cannot fail.
    let _ = write!(
        into,
        "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}."
    );
    push_thousandths(into, millis % 1000);
    into.push(b'Z');
}

/// Returns a seed that varies with the time, and is never 0.
pub(super) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64) | 1
}
