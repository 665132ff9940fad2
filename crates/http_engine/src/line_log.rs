//! Access-log lines of the responses that the engine sends by itself, and of those that the owner requests: identical to pino's,
//! character for character.
//!
//! A line consists of pieces that the owner took from pino, with the varying values between them. Lines wait here, the oldest
//! first, until the owner takes them; when too many wait, the owner gets the requests. So the engine never waits for a reader of
//! the log, and every response has its line.

mod clock;
mod ids;

use std::time::Duration;

pub use clock::Clock;
use clock::Stamp;
use ids::Ids;

use crate::sys;

/// Max bytes of lines waiting for the owner.
const MAX_WAITING: usize = 1024 * 1024;
/// Max bytes of a line: the owner takes only whole lines, and has room for this much.
const MAX_LINE: usize = 64 * 1024;
const GET: &[u8] = b"\",\"method\":\"GET\",\"url\":\"";
const HEAD: &[u8] = b"\",\"method\":\"HEAD\",\"url\":\"";
const STATUS: &[u8] = b"\",\"statusCode\":";
/// Digits of a status and of the longest duration.
const DIGITS: usize = 3 + 24;

/// The beginning of the lines of some statuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// No line is written.
    Off,
    /// Only the owner can write them: it gets the requests.
    Owner,
    /// These bytes.
    Bytes(Box<[u8]>),
}

/// The format of a server's lines.
#[derive(Clone, Debug)]
pub struct LinePlan {
    /// For a status below 400, for one below 500, and for one above.
    pub begins: [Begin; 3],
    /// Text before the time, if it is written.
    pub before_time: Box<[u8]>,
    /// The format of the time.
    pub clock: Clock,
    /// Text between the time and the request's id.
    pub before_id: Box<[u8]>,
    /// Text between the status and the response time.
    pub before_duration: Box<[u8]>,
    /// The line's end: for a status below 500, and for one above.
    pub ends: [Box<[u8]>; 2],
    /// Prefix of the ids that the engine generates.
    pub id_prefix: Box<[u8]>,
    /// The share of lines below status 400 that are written, 0 to 1.
    pub share: f64,
    /// Number of waiting bytes from which the owner should take them at once.
    pub due_bytes: usize,
}

/// The contents of a line.
#[derive(Clone, Copy, Debug)]
pub struct LoggedResponse<'a> {
    /// True for HEAD, false for GET.
    pub is_head: bool,
    /// The target, printable.
    pub url: &'a [u8],
    /// The status sent, three digits.
    pub status: u16,
    /// The value of the request's id header, if it occurs once.
    pub id: Option<&'a [u8]>,
    /// The response time.
    pub took: ResponseTime,
}

/// The duration of a response.
#[derive(Clone, Copy, Debug)]
pub enum ResponseTime {
    /// Measured from this time, by the clock of [`sys::now`].
    Since(Duration),
    /// This duration.
    Exactly(Duration),
}

/// News about waiting lines for the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// None: the owner has been notified of all.
    #[default]
    Nothing,
    /// Lines are waiting.
    Some,
    /// So many are waiting that they should be taken at once.
    Due,
}

/// Limits for log lines written by JavaScript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnersLimits {
    /// Max bytes of a target; 0 if no line can be written.
    pub max_url: usize,
    /// Too many lines wait: they must be taken before another is written.
    pub is_full: bool,
}

/// The responder to a request that is due a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The engine: its line has room, or none is written.
    Engine,
    /// The owner, because only it can write the line.
    Owner,
    /// The owner, because too many lines wait.
    Full,
}

struct Writer {
    plan: LinePlan,
    stamp: Stamp,
    ids: Ids,
    /// Max bytes of a line with an empty URL.
    max_length: usize,
    /// The start of a line, up to the id, for this level and this millisecond.
    opening: (usize, Vec<u8>),
    /// The text between the URL and the response time, for this status.
    middle: (u16, Vec<u8>),
}

#[derive(Default)]
pub(crate) struct LineLog {
    writer: Option<Writer>,
    lines: Vec<u8>,
    /// News that the owner has received since it took lines.
    reported: News,
    is_closed: bool,
    random: u64,
}

impl LineLog {
    /// Sets the format of later lines; `None` writes none.
    pub fn set_plan(&mut self, plan: Option<LinePlan>) {
        self.random |= clock::seed();
        self.writer = plan.map(Writer::new);
    }

    /// Returns the responder for a request whose response has that status.
    pub fn admission(&self, status: u16, url: &[u8]) -> Admission {
        let Some(writer) = &self.writer else {
            return Admission::Owner;
        };
        let room = writer.max_length + 2 * url.len();
        if self.is_closed || *writer.begin(status) == Begin::Owner || room > MAX_LINE {
            Admission::Owner
        } else if self.lines.len() + room > MAX_WAITING {
            Admission::Full
        } else {
            Admission::Engine
        }
    }

    pub fn owners_limits(&self) -> OwnersLimits {
        self.writer
            .as_ref()
            .map_or_else(OwnersLimits::default, |writer| OwnersLimits {
                max_url: MAX_LINE.saturating_sub(writer.max_length) / 2,
                is_full: self.lines.len() + writer.max_length > MAX_WAITING,
            })
    }

    /// Admits no more responses: the lines that the owner takes next are the last ones.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Writes the line of an admitted response, and returns the resulting news for the owner.
    pub fn write(&mut self, response: &LoggedResponse<'_>) -> News {
        let Some(writer) = &mut self.writer else {
            return News::Nothing;
        };
        let share = writer.plan.share;
        let is_written = response.status >= 400
            || share >= 1.0
            || (share > 0.0 && random_share(&mut self.random) < share);
        if !is_written || !writer.write(response, &mut self.lines) {
            return News::Nothing;
        }
        let news = if self.lines.len() >= writer.plan.due_bytes {
            News::Due
        } else {
            News::Some
        };
        if news <= self.reported {
            return News::Nothing;
        }
        self.reported = news;
        news
    }

    /// Moves the oldest lines, only whole ones, to the start of `into`. Returns the number of bytes.
    pub fn take(&mut self, into: &mut [u8]) -> usize {
        let length = if self.lines.len() <= into.len() {
            self.lines.len()
        } else {
            memchr::memrchr(b'\n', &self.lines[..into.len()]).map_or(0, |last| last + 1)
        };
        into[..length].copy_from_slice(&self.lines[..length]);
        self.lines.drain(..length);
        self.reported = News::Nothing;
        length
    }
}

impl Writer {
    fn new(plan: LinePlan) -> Self {
        let begins = plan.begins.iter().map(|begin| match begin {
            Begin::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        let max_length = begins.max().unwrap_or(0)
            + plan.before_time.len()
            + Stamp::MAX_LENGTH
            + plan.before_id.len()
            + ids::MAX_CLIENT_ID.max(plan.id_prefix.len() + Ids::MAX_LENGTH)
            + HEAD.len()
            + STATUS.len()
            + plan.before_duration.len()
            + DIGITS
            + plan.ends.iter().map(|end| end.len()).max().unwrap_or(0)
            + 2;
        Self {
            stamp: Stamp::new(plan.clock),
            ids: Ids::new(&plan.id_prefix),
            plan,
            max_length,
            opening: (0, Vec::new()),
            middle: (0, Vec::new()),
        }
    }

    fn begin(&self, status: u16) -> &Begin {
        &self.plan.begins[level_of(status)]
    }

    fn write(&mut self, response: &LoggedResponse<'_>, into: &mut Vec<u8>) -> bool {
        let status = response.status;
        let level = level_of(status);
        let now = sys::now();
        if self.opening.0 != level || !self.stamp.is_of(now) {
            self.open(level, now);
        }
        if self.opening.1.is_empty() {
            return false;
        }
        if self.middle.0 != status {
            self.set_middle(status);
        }
        into.reserve(self.max_length + 2 * response.url.len());
        into.extend_from_slice(&self.opening.1);
        match response.id.filter(|id| ids::is_safe(id)) {
            Some(id) => into.extend_from_slice(id),
            None => self.ids.push_next(into),
        }
        into.extend_from_slice(if response.is_head { HEAD } else { GET });
        push_quoted(into, response.url);
        into.extend_from_slice(&self.middle.1);
        let took = match response.took {
            ResponseTime::Since(since) => now.saturating_sub(since),
            ResponseTime::Exactly(took) => took,
        };
        let nanos = took.as_nanos() as u64;
        let micros = (nanos + 500) / 1000;
        push_decimal(into, micros / 1000);
        into.push(b'.');
        push_thousandths(into, micros % 1000);
        into.extend_from_slice(&self.plan.ends[usize::from(status >= 500)]);
        true
    }

    /// Writes the opening; it is empty if no line is written.
    fn open(&mut self, level: usize, now: Duration) {
        let plan = &self.plan;
        let time = self.stamp.refresh(now);
        let (of, opening) = &mut self.opening;
        *of = level;
        opening.clear();
        if let Begin::Bytes(begin) = &plan.begins[level] {
            for piece in [begin, &plan.before_time[..], time, &plan.before_id, b"\""] {
                opening.extend_from_slice(piece);
            }
        }
    }

    fn set_middle(&mut self, status: u16) {
        let (of, middle) = &mut self.middle;
        *of = status;
        middle.clear();
        middle.extend_from_slice(STATUS);
        push_decimal(middle, status.into());
        middle.extend_from_slice(&self.plan.before_duration);
    }
}

fn level_of(status: u16) -> usize {
    usize::from(status >= 400) + usize::from(status >= 500)
}

/// Appends the characters of a JSON string; a URL is printable.
fn push_quoted(into: &mut Vec<u8>, mut url: &[u8]) {
    // Nearly no URL has one; for a short one this loop is faster than a search.
    let is_special = |byte: &u8| (*byte == b'"') | (*byte == b'\\');
    if !url.iter().fold(false, |any, byte| any | is_special(byte)) {
        into.extend_from_slice(url);
        return;
    }
    while let Some(at) = memchr::memchr2(b'"', b'\\', url) {
        into.extend_from_slice(&url[..at]);
        into.push(b'\\');
        into.push(url[at]);
        url = &url[at + 1..];
    }
    into.extend_from_slice(url);
}

fn push_decimal(into: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    into.extend_from_slice(&digits[at..]);
}

/// Appends three digits.
fn push_thousandths(into: &mut Vec<u8>, value: u64) {
    let digit = |value: u64| b'0' + (value % 10) as u8;
    into.extend_from_slice(&[digit(value / 100), digit(value / 10), digit(value)]);
}

/// Returns a number from 0 to 1, by xorshift64*: good enough for a sample.
fn random_share(state: &mut u64) -> f64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    let bits = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests;
