//! What happens when time has passed.

use crate::batch::Note;
use crate::connection::{Connection, Deadline};
use crate::engine::Engine;
use crate::problem::What;
use crate::timers::Entry;

impl Engine {
    /// Makes sure that a timer entry is there for the connection's next deadline.
    pub(crate) fn arm(&mut self, connection: &mut Connection) {
        let settings = self.settings(connection.whom.server);
        let Some((at_ms, _)) = connection.deadline(settings) else {
            return;
        };
        if connection.armed == 0 || at_ms < connection.armed {
            connection.armed = at_ms;
            self.timers.add(Entry {
                at_ms,
                slot: connection.whom.slot,
                generation: connection.whom.generation,
            });
        }
    }

    pub(crate) fn run_timers(&mut self) {
        while let Some(entry) = self.timers.due(self.now_ms) {
            self.with(entry.slot, entry.generation, |engine, connection| {
                // Another entry has taken its place.
                if connection.armed == entry.at_ms {
                    connection.armed = 0;
                    engine.on_timer(connection);
                }
            });
        }
        self.timers.set_again();
    }

    fn on_timer(&mut self, connection: &mut Box<Connection>) {
        let settings = *self.settings(connection.whom.server);
        match connection.deadline(&settings) {
            Some((at_ms, kind)) if at_ms <= self.now_ms => match kind {
                Deadline::Request => self.fail(connection, What::Timeout, 0, &[]),
                Deadline::KeepAlive | Deadline::Inactive => {
                    connection.told = true;
                    connection.last_active = self.now_ms;
                    if connection.idle_since != 0 {
                        connection.idle_since = self.now_ms;
                    }
                    let inactive = kind == Deadline::Inactive;
                    self.batch.note(connection.whom, Note::Timeout { inactive });
                    self.arm(connection);
                }
            },
            _ => self.arm(connection),
        }
    }
}
