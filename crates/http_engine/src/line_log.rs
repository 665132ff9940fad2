//! Access-log lines of the answers the engine gives by itself, and of those the owner has it write: what pino would have written, character for character.
//!
//! A line is made of pieces that the owner took from pino, with what differs from line to line between them. Lines wait here,
//! the oldest first, until the owner takes them; where too many wait the owner gets the requests. So the engine never waits for
//! a reader of the log, and no answer lacks its line.

mod clock;
mod ids;

use std::time::Duration;

pub use clock::Clock;
use clock::Stamp;
use ids::Ids;

use crate::sys;

/// Bytes of lines that may wait for the owner.
const MOST_WAITING: usize = 1024 * 1024;
/// Bytes of the longest line: the owner takes whole ones, and has room for that.
const LONGEST: usize = 64 * 1024;
const GET: &[u8] = b"\",\"method\":\"GET\",\"url\":\"";
const HEAD: &[u8] = b"\",\"method\":\"HEAD\",\"url\":\"";
const STATUS: &[u8] = b"\",\"statusCode\":";
/// A status, and the longest duration.
const DIGITS: usize = 3 + 24;

/// How the lines of some statuses begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Nothing is written.
    Off,
    /// Only the owner can write them: it gets the requests.
    Owner,
    /// With these bytes.
    Bytes(Box<[u8]>),
}

/// What the lines of a server look like.
#[derive(Clone, Debug)]
pub struct LinePlan {
    /// Of a status below 400, of one below 500, and of one above.
    pub begins: [Begin; 3],
    /// What comes before the time, if it is written.
    pub before_time: Box<[u8]>,
    /// How the time is written.
    pub clock: Clock,
    /// Between the time and the request's id.
    pub before_id: Box<[u8]>,
    /// Between the status and the response time.
    pub before_duration: Box<[u8]>,
    /// What comes last: of a status below 500, and of one above.
    pub ends: [Box<[u8]>; 2],
    /// What the ids begin with that the engine makes.
    pub id_prefix: Box<[u8]>,
    /// The share of lines below status 400 that are written, 0 to 1.
    pub share: f64,
    /// From so many waiting bytes on the owner is to take them at once.
    pub due_bytes: usize,
}

/// What a line is about.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The method was HEAD, otherwise GET.
    pub is_head: bool,
    /// The target, printable.
    pub url: &'a [u8],
    /// What was sent, in three digits.
    pub status: u16,
    /// What the request's id header says, when it is there once.
    pub id: Option<&'a [u8]>,
    /// Its response time.
    pub took: Took,
}

/// How long an answer took.
#[derive(Clone, Copy, Debug)]
pub enum Took {
    /// It was found then, by the clock of [`sys::now`].
    Since(Duration),
    /// So long.
    Exactly(Duration),
}

/// What the owner has to hear of the lines that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// It has heard all.
    #[default]
    Nothing,
    /// There are some.
    Some,
    /// There are so many that they are to be taken at once.
    Due,
}

/// What an owner has to mind that has lines of its own answers written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnersLimits {
    /// Bytes of the longest target; 0 where no line can be written.
    pub longest_url: usize,
    /// Too many lines wait: they are to be taken before another is written.
    pub is_full: bool,
}

/// Who answers a request of which a line is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The engine: its line finds room, or needs none.
    Given,
    /// The owner, who alone can write the line.
    Owner,
    /// The owner, as too many lines wait.
    Full,
}

struct Writer {
    plan: LinePlan,
    stamp: Stamp,
    ids: Ids,
    /// Of a line with an empty URL, at most.
    longest: usize,
    /// What lines begin with, up to the id, at this level and in this millisecond.
    opening: (usize, Vec<u8>),
    /// What is between the URL and the response time, for this status.
    middle: (u16, Vec<u8>),
}

/// The lines of one server.
#[derive(Default)]
pub(crate) struct LineLog {
    writer: Option<Writer>,
    lines: Vec<u8>,
    /// What the owner has heard since it took lines.
    told: News,
    is_held: bool,
    random: u64,
}

impl LineLog {
    /// What lines look like from here on; `None` writes none.
    pub fn set_plan(&mut self, plan: Option<LinePlan>) {
        self.random |= clock::seed();
        self.writer = plan.map(Writer::new);
    }

    /// Whether an answer with that status may be given.
    pub fn admission(&self, status: u16, url: &[u8]) -> Admission {
        let Some(writer) = &self.writer else {
            return Admission::Owner;
        };
        let room = writer.longest + 2 * url.len();
        if self.is_held || *writer.begin(status) == Begin::Owner || room > LONGEST {
            Admission::Owner
        } else if self.lines.len() + room > MOST_WAITING {
            Admission::Full
        } else {
            Admission::Given
        }
    }

    pub fn owners_limits(&self) -> OwnersLimits {
        self.writer
            .as_ref()
            .map_or_else(OwnersLimits::default, |writer| OwnersLimits {
                longest_url: LONGEST.saturating_sub(writer.longest) / 2,
                is_full: self.lines.len() + writer.longest > MOST_WAITING,
            })
    }

    /// No more answers: what the owner takes next are the last lines.
    pub fn hold(&mut self) {
        self.is_held = true;
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Writes the line of an answer that was admitted, and says what of it is new to the owner.
    pub fn write(&mut self, answered: &Answered<'_>) -> News {
        let Some(writer) = &mut self.writer else {
            return News::Nothing;
        };
        let share = writer.plan.share;
        let is_written = answered.status >= 400
            || share >= 1.0
            || (share > 0.0 && random_share(&mut self.random) < share);
        if !is_written || !writer.write(answered, &mut self.lines) {
            return News::Nothing;
        }
        let news = if self.lines.len() >= writer.plan.due_bytes {
            News::Due
        } else {
            News::Some
        };
        if news <= self.told {
            return News::Nothing;
        }
        self.told = news;
        news
    }

    /// Moves the oldest lines, whole ones, to the begin of `into`: how many bytes.
    pub fn take(&mut self, into: &mut [u8]) -> usize {
        let length = if self.lines.len() <= into.len() {
            self.lines.len()
        } else {
            memchr::memrchr(b'\n', &self.lines[..into.len()]).map_or(0, |last| last + 1)
        };
        into[..length].copy_from_slice(&self.lines[..length]);
        self.lines.drain(..length);
        self.told = News::Nothing;
        length
    }
}

impl Writer {
    fn new(plan: LinePlan) -> Self {
        let begins = plan.begins.iter().map(|begin| match begin {
            Begin::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        let longest = begins.max().unwrap_or(0)
            + plan.before_time.len()
            + Stamp::LONGEST
            + plan.before_id.len()
            + ids::MOST_CHARACTERS.max(plan.id_prefix.len() + Ids::LONGEST)
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
            longest,
            opening: (0, Vec::new()),
            middle: (0, Vec::new()),
        }
    }

    fn begin(&self, status: u16) -> &Begin {
        &self.plan.begins[level_of(status)]
    }

    fn write(&mut self, answered: &Answered<'_>, into: &mut Vec<u8>) -> bool {
        let status = answered.status;
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
        into.reserve(self.longest + 2 * answered.url.len());
        into.extend_from_slice(&self.opening.1);
        match answered.id.filter(|id| ids::is_safe(id)) {
            Some(id) => into.extend_from_slice(id),
            None => self.ids.push_next(into),
        }
        into.extend_from_slice(if answered.is_head { HEAD } else { GET });
        push_quoted(into, answered.url);
        into.extend_from_slice(&self.middle.1);
        let took = match answered.took {
            Took::Since(since) => now.saturating_sub(since),
            Took::Exactly(took) => took,
        };
        let nanos = took.as_nanos() as u64;
        let micros = (nanos + 500) / 1000;
        push_decimal(into, micros / 1000);
        into.push(b'.');
        push_thousandths(into, micros % 1000);
        into.extend_from_slice(&self.plan.ends[usize::from(status >= 500)]);
        true
    }

    /// Writes the opening; it is empty where no line is written.
    fn open(&mut self, level: usize, now: Duration) {
        let plan = &self.plan;
        let time = self.stamp.look(now);
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

/// The index of the level that answers of a status have.
fn level_of(status: u16) -> usize {
    usize::from(status >= 400) + usize::from(status >= 500)
}

/// The characters of a JSON string; a URL is printable.
fn push_quoted(into: &mut Vec<u8>, mut url: &[u8]) {
    // Nearly none has one; of a short one this is known before a search has begun.
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

/// Three digits.
fn push_thousandths(into: &mut Vec<u8>, value: u64) {
    let digit = |value: u64| b'0' + (value % 10) as u8;
    into.extend_from_slice(&[digit(value / 100), digit(value / 10), digit(value)]);
}

/// 0 to 1, by xorshift64*: a sample needs no better.
fn random_share(state: &mut u64) -> f64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    let bits = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests;
