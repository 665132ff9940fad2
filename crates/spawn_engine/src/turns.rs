//! The children of one turn of the caller's loop. Node starts each within its call, so all of them have emitted "spawn" before it
//! reads from one, and a program that waits for several and then connects them misses nothing.

use std::collections::HashSet;
use std::ops::Range;

use crate::event::Event;

struct Turn {
    /// The port's number of looks when the turn's first child was added.
    number: u64,
    /// The ids of its children, including ids of other ports' children in between.
    children: Range<u64>,
    /// Children that have not started yet, and whose start the caller waits for.
    starting: HashSet<u64>,
}

/// Earlier turns with children that have not started, and the present turn, in this order.
#[derive(Default)]
pub(crate) struct Turns(Vec<Turn>);

impl Turns {
    /// Adds a child to the turn of that number, the present one. Numbers and ids only grow.
    pub fn add(&mut self, number: u64, child: u64) {
        if let Some(last) = self.0.last_mut() {
            if last.number == number {
                return;
            }
            last.children.end = child;
        }
        self.0.retain(|turn| !turn.starting.is_empty());
        self.0.push(Turn {
            number,
            children: child..u64::MAX,
            starting: HashSet::new(),
        });
    }

    /// Notes that the caller waits for the start of that child.
    pub fn expect_start(&mut self, child: u64) {
        let turn = self.0.iter_mut().rev();
        if let Some(turn) = turn.into_iter().find(|turn| turn.children.contains(&child)) {
            turn.starting.insert(child);
        }
    }

    /// Returns true for an event that waits for the start of another child.
    pub fn holds(&self, event: &Event) -> bool {
        !event.is_start()
            && self
                .0
                .iter()
                .any(|turn| !turn.starting.is_empty() && turn.children.contains(&event.child()))
    }

    /// Notes that the caller has taken the event.
    pub fn event_taken(&mut self, event: &Event) {
        if event.is_start() {
            for turn in &mut self.0 {
                turn.starting.remove(&event.child());
            }
        }
    }
}
