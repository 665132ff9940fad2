//! The queue of a port's events.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::block::recycle;
use crate::event::Event;
use crate::sys::lock;
use crate::turns::Turns;

type Wake = Box<dyn Fn() + Send + Sync>;

/// Number of recent events searched for bytes of the same stream.
const MERGE_WINDOW: usize = 16;

pub(crate) struct Inbox {
    events: Mutex<VecDeque<Event>>,
    /// Children whose events wait for the starts of others.
    turns: Mutex<Turns>,
    /// `None` once the port is closed. The lock is held during the call, so that no call happens after the close.
    wake: Mutex<Option<Wake>>,
    /// The port's number of looks at its own descriptors.
    looks: AtomicU64,
}

/// Undelivered bytes of one stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    pub bytes: Vec<u8>,
    /// True if the bytes exceed the limit of the collection.
    pub is_too_much: bool,
}

impl Unseen {
    fn append(&mut self, event: &mut Event) {
        self.is_too_much |= matches!(event, Event::Overflowed { .. });
        if let Event::Data { bytes, .. }
        | Event::Ended { bytes, .. }
        | Event::Overflowed { bytes, .. } = event
        {
            if self.bytes.is_empty() {
                self.bytes = std::mem::take(bytes);
            } else {
                self.bytes.extend_from_slice(bytes);
            }
        }
    }
}

impl Inbox {
    pub fn new(wake: Wake) -> Self {
        Self {
            events: Mutex::default(),
            turns: Mutex::default(),
            wake: Mutex::new(Some(wake)),
            looks: AtomicU64::new(0),
        }
    }

    pub fn push(&self, event: Event) {
        let mut events = lock(&self.events);
        if let Some(event) = merge(&mut events, event) {
            events.push_back(event);
        }
    }

    /// Pushes the event before the exit of `child`, if the port has not taken that yet; otherwise returns the event.
    pub fn push_before_exit(&self, child: u64, event: Event) -> Option<Event> {
        let mut events = lock(&self.events);
        let exit = events
            .iter()
            .position(|other| other.is_exit() && other.child() == child);
        let Some(exit) = exit else {
            return Some(event);
        };
        events.insert(exit, event);
        None
    }

    pub fn wake(&self) {
        if let Some(wake) = &*lock(&self.wake) {
            wake();
        }
    }

    pub fn look(&self) {
        self.looks.fetch_add(1, Ordering::AcqRel);
    }

    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::Acquire)
    }

    /// Moves the ends of processes after the other waiting events, in the order of their starts: the order in which a loop that
    /// handles signals last, and then checks each of its children, reports them. Events that came after the end of their own
    /// process stay after it. Returns the number of waiting events.
    pub fn put_exits_last(&self) -> usize {
        let mut events = lock(&self.events);
        if events.iter().any(Event::is_exit) {
            let mut ended = HashSet::new();
            let (mut first, mut exits, mut late) = (VecDeque::new(), Vec::new(), Vec::new());
            for event in events.drain(..) {
                if event.is_exit() {
                    ended.insert(event.child());
                    exits.push(event);
                } else if ended.contains(&event.child()) {
                    late.push(event);
                } else {
                    first.push_back(event);
                }
            }
            exits.sort_by_key(Event::child);
            first.extend(exits);
            first.extend(late);
            *events = first;
        }
        events.len()
    }

    /// Adds a child to the present turn.
    pub fn add_child(&self, child: u64) {
        lock(&self.turns).add(self.looks(), child);
    }

    /// Notes that the caller waits for [`Event::Started`] or [`Event::Failed`] of this child: events of the other children of its
    /// turn come after it.
    pub fn expect_start(&self, child: u64) {
        lock(&self.turns).expect_start(child);
    }

    /// Returns the oldest event that need not wait for a start. The others stay, so that a request for a stream in between finds
    /// all of its bytes here.
    pub fn next(&self) -> Option<Event> {
        let mut events = lock(&self.events);
        let mut turns = lock(&self.turns);
        let next = events.iter().position(|event| !turns.holds(event))?;
        let event = events.remove(next)?;
        turns.event_taken(&event);
        Some(event)
    }

    /// Takes the events of one stream alone, for a reader that will not wait for its turn. The end of a discarded stream goes with
    /// them: see [`Inbox::take_drained`].
    pub fn take_unseen(&self, child: u64, stream: u16) -> Unseen {
        let mut unseen = Unseen::default();
        lock(&self.events).retain_mut(|event| {
            let is_of_stream = event.is_of(child, stream);
            if is_of_stream {
                unseen.append(event);
            }
            !is_of_stream
        });
        unseen
    }

    /// Moves the number of discarded bytes out of a stream's end that waits to be taken. The end itself stays.
    pub fn take_drained(&self, child: u64, stream: u16) -> u64 {
        let mut events = lock(&self.events);
        events
            .iter_mut()
            .filter(|event| event.is_of(child, stream))
            .find_map(|event| match event {
                Event::Drained { bytes, .. } => Some(std::mem::take(bytes)),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// Forgets the failure of a child that the caller learned otherwise.
    pub fn remove_failure(&self, child: u64) {
        lock(&self.events)
            .retain(|event| !matches!(event, Event::Failed { id, .. } if *id == child));
    }

    pub fn close(&self) {
        *lock(&self.wake) = None;
        lock(&self.events).clear();
    }

    pub fn is_closed(&self) -> bool {
        lock(&self.wake).is_none()
    }
}

/// Appends bytes to an undelivered event of the same stream: one larger chunk costs JavaScript less than two.
fn merge(events: &mut VecDeque<Event>, event: Event) -> Option<Event> {
    let Event::Data { id, stream, bytes } = event else {
        return Some(event);
    };
    let latest = events.iter_mut().rev().take(MERGE_WINDOW);
    match latest.into_iter().find(|other| other.is_of(id, stream)) {
        Some(Event::Data { bytes: unseen, .. }) => {
            unseen.extend_from_slice(&bytes);
            recycle(bytes);
            None
        }
        _ => Some(Event::Data { id, stream, bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(id: u64) -> Event {
        Event::Exited {
            id,
            pid: 1,
            code: 0,
            signal: 0,
        }
    }

    fn ended(id: u64) -> Event {
        Event::Ended {
            id,
            stream: 1,
            bytes: Vec::new(),
            error: 0,
        }
    }

    fn started(id: u64) -> Event {
        Event::Started { id }
    }

    fn taken(inbox: &Inbox) -> Vec<Event> {
        std::iter::from_fn(|| inbox.next()).collect()
    }

    #[test]
    fn exits_come_last_in_the_order_of_the_starts_and_before_what_came_after_them() {
        let inbox = Inbox::new(Box::new(|| {}));
        for event in [exited(2), ended(3), exited(1), ended(2), ended(4)] {
            inbox.push(event);
        }
        assert_eq!(inbox.put_exits_last(), 5);
        assert_eq!(
            taken(&inbox),
            [ended(3), ended(4), exited(1), exited(2), ended(2)]
        );
    }

    #[test]
    fn what_waits_of_one_stream_is_taken_alone() {
        let inbox = Inbox::new(Box::new(|| {}));
        let of = |stream, bytes: &[u8]| Event::Data {
            id: 1,
            stream,
            bytes: bytes.to_vec(),
        };
        for event in [of(1, b"one "), of(2, b"other"), ended(1), ended(2)] {
            inbox.push(event);
        }
        let unseen = Unseen {
            bytes: b"one ".to_vec(),
            is_too_much: false,
        };
        assert_eq!(inbox.take_unseen(1, 1), unseen);
        assert_eq!(inbox.take_unseen(1, 1), Unseen::default());
        assert_eq!(taken(&inbox), [of(2, b"other"), ended(2)]);
    }

    #[test]
    fn the_number_of_discarded_bytes_is_taken_without_the_end() {
        let inbox = Inbox::new(Box::new(|| {}));
        let drained = |stream, bytes| Event::Drained {
            id: 1,
            stream,
            bytes,
        };
        inbox.push(drained(1, 4));
        inbox.push(drained(2, 7));
        assert_eq!(inbox.take_drained(1, 2), 7);
        assert_eq!(inbox.take_drained(1, 2), 0);
        assert_eq!(taken(&inbox), [drained(1, 4), drained(2, 0)]);
    }

    #[test]
    fn children_of_one_turn_have_all_started_before_anything_is_heard_of_one() {
        let inbox = Inbox::new(Box::new(|| {}));
        inbox.add_child(1);
        inbox.look();
        for child in [2, 3, 5] {
            inbox.add_child(child);
        }
        inbox.expect_start(3);
        inbox.expect_start(5);
        inbox.look();
        inbox.add_child(6);
        for event in [
            ended(2),
            started(3),
            ended(3),
            exited(2),
            ended(1),
            ended(6),
        ] {
            inbox.push(event);
        }
        assert_eq!(taken(&inbox), [started(3), ended(1), ended(6)]);
        let failed = || Event::Failed { id: 5, error: 2 };
        inbox.push(failed());
        assert_eq!(taken(&inbox), [failed(), ended(2), ended(3), exited(2)]);
    }
}
