//! The times of a child and the resources it used, for callers that ask for them.

use std::time::Duration;

/// When a child was asked for, taken from the queue, running and over, by CLOCK_MONOTONIC; zero for what has not happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The request came.
    pub queued: Duration,
    /// A spawner began with it.
    pub taken: Duration,
    /// The program runs.
    pub started: Duration,
    /// The end of the process was seen.
    pub ended: Duration,
}

/// What a process and the children it waited for have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time outside of the kernel.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Peak of the resident memory in KiB. 0 when it is not known: the kernel counts the memory that a child borrows before its
    /// exec, which is all of ours, so a smaller peak does not show.
    pub peak_kib: u64,
    /// How often it waited for something.
    pub voluntary_switches: u64,
    /// How often another was given its core.
    pub involuntary_switches: u64,
}

/// What was measured of one child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Its times.
    pub times: Times,
    /// What it used, once it has ended.
    pub usage: Option<Usage>,
}

impl Usage {
    /// From what the kernel says about a process that was started when this process's own peak was `floor_kib`.
    pub(crate) fn new(raw: &libc::rusage, floor_kib: u64) -> Self {
        let time = |value: libc::timeval| {
            Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
        };
        let peak_kib = raw.ru_maxrss as u64;
        // The kernel's counters of a process's pages are exact to some pages for each core.
        let is_known = peak_kib > floor_kib + floor_kib / 16;
        Self {
            user: time(raw.ru_utime),
            system: time(raw.ru_stime),
            peak_kib: if is_known { peak_kib } else { 0 },
            voluntary_switches: raw.ru_nvcsw as u64,
            involuntary_switches: raw.ru_nivcsw as u64,
        }
    }
}

/// The time by CLOCK_MONOTONIC, which Node's `process.hrtime` shows too.
pub(crate) fn now() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills `time`, which outlives it.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The peak of this process's resident memory since its own exec, in KiB: what a child borrows. `getrusage` would add
/// that of our own parent.
pub(crate) fn own_peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| {
            let value = line.strip_prefix("VmHWM:")?;
            value.trim().strip_suffix(" kB")?.parse().ok()
        })
        // Without it no peak is known.
        .unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_below_our_own_is_not_known() {
        // SAFETY: an all-zero `rusage` is valid.
        let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
        raw.ru_maxrss = 50_000;
        assert_eq!(Usage::new(&raw, 50_000).peak_kib, 0);
        assert_eq!(Usage::new(&raw, 40_000).peak_kib, 50_000);
        assert_eq!(Usage::new(&raw, u64::MAX / 2).peak_kib, 0);
    }

    #[test]
    fn our_own_peak_is_at_least_what_we_have_touched() {
        let block = vec![1_u8; 32 << 20];
        assert!(own_peak_kib() >= 32 << 10, "{}", own_peak_kib());
        drop(block);
    }
}
