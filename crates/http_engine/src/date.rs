//! The `Date` header (RFC 9110, section 5.6.7), formatted once a second.

use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The last formatted date.
#[derive(Default)]
pub(crate) struct Date {
    seconds: u64,
    text: String,
    /// The engine's clock at the last check.
    checked_ms: u64,
}

impl Date {
    /// Returns the current date; `now_ms` is the engine's clock, which avoids reading the system's.
    pub fn at(&mut self, now_ms: u64) -> &[u8] {
        if self.checked_ms != now_ms || self.text.is_empty() {
            self.checked_ms = now_ms;
            self.refresh();
        }
        self.text.as_bytes()
    }

    fn refresh(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = now.map_or(0, |now| now.as_secs());
        if seconds != self.seconds || self.text.is_empty() {
            self.seconds = seconds;
            self.text = write(seconds);
        }
    }
}

fn write(seconds: u64) -> String {
    let days = seconds / 86_400;
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let weekday = DAYS[(days % 7) as usize];
    let (year, month, day) = civil(days);
    let month = MONTHS[month];
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Converts days since 1970 to year, month from 0 and day of the month. Years are counted from March, so that the leap day is the
/// last.
pub(crate) fn civil(days: u64) -> (u64, usize, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month as usize + 2) % 12;
    let year = year_of_era + era * 400 + u64::from(month < 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::write;

    #[test]
    fn dates_are_as_the_rfc_writes_them() {
        assert_eq!(write(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(write(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(write(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(write(1_798_761_599), "Thu, 31 Dec 2026 23:59:59 GMT");
        assert_eq!(write(4_107_542_400), "Mon, 01 Mar 2100 00:00:00 GMT");
    }
}
