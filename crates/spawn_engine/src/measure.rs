//! The times of a child and the resources it used, for callers that request them.

use std::time::Duration;

/// Times at which a child was requested, taken from the queue, started and ended, by CLOCK_MONOTONIC; zero for steps that have
/// not happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The request arrived.
    pub queued: Duration,
    /// A spawner began with it.
    pub taken: Duration,
    /// The program runs.
    pub started: Duration,
    /// The end of the process was seen.
    pub ended: Duration,
}

/// Resources used by a process and the children it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Peak of the resident memory in KiB. 0 if unknown: the kernel counts the memory that a child borrows before its exec, which
    /// is all of ours, so a smaller peak does not show.
    pub peak_kib: u64,
    /// Number of times it gave up the core to wait.
    pub voluntary_switches: u64,
    /// Number of times it lost the core to another.
    pub involuntary_switches: u64,
}

/// The measurements of one child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Its times.
    pub times: Times,
    /// Its resource usage, once it has ended.
    pub usage: Option<Usage>,
}

impl Usage {
    /// Converts the kernel's figures of a process that was started when this process's own peak was `floor_kib`.
    pub(crate) fn new(raw: &libc::rusage, floor_kib: u64) -> Self {
        let time = |value: libc::timeval| {
            Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
        };
        let peak_kib = raw.ru_maxrss as u64;
        // The kernel's page counters of a process are off by up to some pages per core.
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

/// Returns the time of CLOCK_MONOTONIC, which Node's `process.hrtime` also uses.
pub(crate) fn now() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills `time`, which outlives it.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the peak of this process's resident memory since its own exec, in KiB: the memory a child borrows. `getrusage` would
/// add that of our own parent.
pub(crate) fn own_peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| {
            let value = line.strip_prefix("VmHWM:")?;
            value.trim().strip_suffix(" kB")?.parse().ok()
        })
        // Unknown: with this floor, every peak counts as unknown.
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
