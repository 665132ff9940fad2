//! Which children were requested in one turn of the caller's loop. Node starts each within its call, so that all have emitted "spawn"
//! before anything of one is read, and whoever waits for several and then connects them misses nothing.

use std::collections::HashSet;
use std::ops::Range;

use crate::event::Event;

struct Turn {
    /// Its number.
    number: u64,
    /// Its children by id, and those of other ports between them.
    children: Range<u64>,
    /// Those whose start the caller has to hear of.
    starting: HashSet<u64>,
}

/// The present turn, behind those earlier ones that have children starting.
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

    /// The caller has to hear of the start of that child.
    pub fn expect_start(&mut self, child: u64) {
        let turn = self.0.iter_mut().rev();
        if let Some(turn) = turn.into_iter().find(|turn| turn.children.contains(&child)) {
            turn.starting.insert(child);
        }
    }

    /// Whether the event waits for the start of another child.
    pub fn holds(&self, event: &Event) -> bool {
        !event.is_start()
            && self
                .0
                .iter()
                .any(|turn| !turn.starting.is_empty() && turn.children.contains(&event.child()))
    }

    /// The caller gets the event.
    pub fn see(&mut self, event: &Event) {
        if event.is_start() {
            for turn in &mut self.0 {
                turn.starting.remove(&event.child());
            }
        }
    }
}
