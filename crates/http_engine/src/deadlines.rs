//! The handling of deadlines that have passed.

use crate::batch::Event;
use crate::body::{Body, Extension};
use crate::connection::{Connection, Deadline};
use crate::engine::Engine;
use crate::problem::ProblemKind;
use crate::timers::Entry;

/// Up to this many timer entries are not worth cleaning up.
const MIN_TIMERS_TO_CLEAN: usize = 4096;
/// Max reads before a deadline is enforced: a batch holds no more bytes.
const MAX_LATE_READS: usize = 16;

impl Engine {
    /// Ensures a timer entry for the connection's next deadline.
    pub(crate) fn arm(&mut self, connection: &mut Connection) {
        let settings = self.settings(connection.id.server);
        if connection.is_armed_for_idle(settings) {
            return;
        }
        let Some((at_ms, _)) = connection.deadline(settings) else {
            return;
        };
        if connection.armed == 0 || at_ms < connection.armed {
            self.drop_obsolete_timers();
            connection.armed = at_ms;
            self.timers.add(Entry {
                at_ms,
                slot: connection.id.slot,
                generation: connection.id.generation,
            });
        }
    }

    /// Drops obsolete entries once most are obsolete: short connections leave entries that are due a minute later.
    fn drop_obsolete_timers(&mut self) {
        if self.timers.len() < MIN_TIMERS_TO_CLEAN + 4 * self.connections as usize {
            return;
        }
        let slots = &self.slots;
        self.timers.retain(|entry| {
            let slot = &slots[entry.slot as usize];
            // The connection being processed is not in its slot.
            let connection = slot.connection.as_ref();
            slot.generation == entry.generation
                && connection.is_none_or(|connection| connection.armed == entry.at_ms)
        });
    }

    pub(crate) fn run_timers(&mut self) {
        while let Some(entry) = self.timers.due(self.now_ms) {
            self.with(entry.slot, entry.generation, |engine, connection| {
                // Another entry has replaced it.
                if connection.armed == entry.at_ms {
                    connection.armed = 0;
                    engine.on_timer(connection);
                }
            });
        }
        self.timers.rearm();
    }

    fn on_timer(&mut self, connection: &mut Box<Connection>) {
        let settings = *self.settings(connection.id.server);
        if let Some((due_ms, _)) = connection.deadline(&settings)
            && due_ms <= self.now_ms
            && !self.read_late(connection, due_ms)
        {
            return;
        }
        match connection.deadline(&settings) {
            Some((at_ms, kind)) if at_ms <= self.now_ms => match kind {
                Deadline::Request if connection.body.is_none() => {
                    self.fail_request(connection, ProblemKind::Timeout, 0, &[]);
                }
                Deadline::Request => self.fail(connection, ProblemKind::Timeout, 0, &[]),
                // Its client is still receiving the last response, so it is not idle yet.
                Deadline::KeepAlive if connection.responses.unsent() > 0 => {
                    connection.idle_since = self.now_ms;
                    self.arm(connection);
                }
                Deadline::KeepAlive | Deadline::Inactive => {
                    connection.mark_reported();
                    connection.last_active = self.now_ms;
                    if connection.idle_since != 0 {
                        connection.idle_since = self.now_ms;
                    }
                    let inactive = kind == Deadline::Inactive;
                    self.batch
                        .report(connection.id, Event::Timeout { inactive });
                    self.arm(connection);
                }
            },
            _ => self.arm(connection),
        }
    }
}

impl Engine {
    /// Reads the bytes that are already in the kernel when the engine is late: they may have arrived in time, so they count. The
    /// rest of a large body may still be with the client, because the kernel's buffer was full: its deadline is extended once, by
    /// the engine's delay. Returns false if the connection is closed.
    fn read_late(&mut self, connection: &mut Box<Connection>, due_ms: u64) -> bool {
        let is_given = |body: &Body| body.extension == Extension::Given;
        if connection.body.as_ref().is_some_and(is_given) {
            return true;
        }
        for _ in 0..MAX_LATE_READS {
            let before = connection.bytes_read;
            if !connection.wants_read() {
                break;
            }
            self.on_readable(connection);
            if !self.is_current(connection) {
                return false;
            }
            if connection.bytes_read == before {
                break;
            }
        }
        if connection.read_in_turn == self.turn
            && let Some(body) = &mut connection.body
        {
            body.extension = Extension::Given;
            let late_ms = self.now_ms - due_ms;
            connection.request_since += 2 * late_ms;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use super::MIN_TIMERS_TO_CLEAN;
    use crate::engine::{Engine, Memory};
    use crate::listener::{Bind, ListenOptions};
    use crate::server::ServerSettings;

    #[test]
    fn connections_that_are_over_leave_few_timers() {
        let mut words = vec![0_u32; 1024];
        let mut bytes = vec![0_u8; 1024];
        let memory = Memory {
            records: (words.as_mut_ptr(), 256),
            input: (bytes.as_mut_ptr(), 1024),
            commands: (words.as_mut_ptr().wrapping_add(256), 256),
            output: (bytes.as_ptr(), 0),
            pending: (words.as_mut_ptr().wrapping_add(512), 512),
        };
        // SAFETY: the vectors are dropped after the engine.
        let mut engine = unsafe { Engine::new(memory) }.expect("an engine");
        let bind = Bind::Ip("127.0.0.1:0".parse().expect("an address"));
        let server = engine
            .listen(&bind, ListenOptions::default(), ServerSettings::default())
            .expect("a port");
        let (stays, _other) = UnixStream::pair().expect("a pair");
        engine.adopt(server, OwnedFd::from(stays));
        for number in 0..3 * MIN_TIMERS_TO_CLEAN as u32 {
            let (comes, _other) = UnixStream::pair().expect("a pair");
            engine.adopt(server, OwnedFd::from(comes));
            engine.close(1, number + 1, false);
        }
        assert_eq!(engine.connection_count(), 1);
        assert!(
            engine.timers.len() <= MIN_TIMERS_TO_CLEAN + 8,
            "{}",
            engine.timers.len()
        );
        // The remaining connection is still timed.
        assert!(
            engine
                .timers
                .due(u64::MAX)
                .is_some_and(|entry| entry.slot == 0)
        );
    }
}
