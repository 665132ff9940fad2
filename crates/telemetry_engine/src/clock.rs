//! From CLOCK_MONOTONIC to the time of day.

use std::time::Duration;

use telemetry_ring::Record;

/// A slewed clock moves less than this between two looks.
const TOLERANCE_NANOS: i64 = 1_000_000;

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// CLOCK_MONOTONIC.
    pub monotonic: Duration,
    /// Time since 1970.
    pub epoch: Duration,
}

impl Now {
    fn offset(self) -> i64 {
        nanos(self.epoch).wrapping_sub(nanos(self.monotonic))
    }
}

/// The distance between both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    offset: i64,
}

impl Clock {
    pub fn new(now: Now) -> Self {
        Self {
            offset: now.offset(),
        }
    }

    /// Follows a time of day that was set. Small differences stay, so that the spans of a trace fit together.
    pub fn update(&mut self, now: Now) {
        if now.offset().abs_diff(self.offset) >= TOLERANCE_NANOS as u64 {
            self.offset = now.offset();
        }
    }

    /// Nanoseconds since 1970 of a time of a record, which a user may have given.
    pub fn time(self, record: Record<'_>, index: usize) -> u64 {
        let time = record.time(index);
        if record.is_epoch(index) {
            nanos(time).try_into().unwrap_or(0)
        } else {
            self.epoch(time)
        }
    }

    /// Nanoseconds since 1970 of a moment of CLOCK_MONOTONIC.
    pub fn epoch(self, monotonic: Duration) -> u64 {
        nanos(monotonic)
            .saturating_add(self.offset)
            .try_into()
            .unwrap_or(0)
    }
}

fn nanos(duration: Duration) -> i64 {
    duration.as_nanos().try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(monotonic: u64, epoch: u64) -> Now {
        Now {
            monotonic: Duration::from_micros(monotonic),
            epoch: Duration::from_micros(epoch),
        }
    }

    #[test]
    fn a_clock_that_was_set_is_followed_and_one_that_drifts_is_not() {
        let mut clock = Clock::new(now(1_000, 5_000_000));
        assert_eq!(clock.epoch(Duration::from_micros(1_500)), 5_000_500_000);
        clock.update(now(2_000, 5_001_999));
        assert_eq!(clock.epoch(Duration::from_micros(1_500)), 5_000_500_000);
        clock.update(now(2_000, 5_002_000));
        assert_eq!(clock.epoch(Duration::from_micros(1_500)), 5_001_500_000);
    }

    #[test]
    fn a_time_before_1970_is_1970() {
        let clock = Clock::new(now(1_000_000, 0));
        assert_eq!(clock.epoch(Duration::ZERO), 0);
    }
}
