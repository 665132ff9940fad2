//! Lines of answers, and how the owner hears of them.

use crate::batch::{Note, Whom};
use crate::engine::Engine;
use crate::line_log::{Answered, LineLog, LinePlan, News, OwnersLimits};

impl Engine {
    /// What the lines of a server's own answers look like from here on; `None` writes none. Lines that wait stay.
    pub fn log_lines(&mut self, server: u32, plan: Option<LinePlan>) {
        let index = server as usize;
        if self.logs.len() <= index {
            self.logs.resize_with(index + 1, LineLog::default);
        }
        self.logs[index].set_plan(plan);
    }

    /// Moves the oldest lines of a server, whole ones, to the begin of `into`, and says how many bytes. Lines outlive their server.
    pub fn take_lines(&mut self, server: u32, into: &mut [u8]) -> usize {
        let Some(log) = self.logs.get_mut(server as usize) else {
            return 0;
        };
        let had_lines = !log.is_empty();
        let taken = log.take(into);
        if had_lines && log.is_empty() {
            self.logs_with_lines -= 1;
            self.outstanding.set_lines(self.logs_with_lines);
        }
        taken
    }

    /// From here on the owner gets every request of which a line is due: what it takes next are the last lines.
    pub fn hold_answers(&mut self, server: u32) {
        if let Some(log) = self.logs.get_mut(server as usize) {
            log.hold();
        }
    }

    /// Writes the line of an answer that the owner has given, and says what of it is new. Whether the engine can write it, and has
    /// room, is for the owner to know: it has the plan, takes the lines, and asks [`Engine::owners_limits`].
    pub fn write_owners_line(&mut self, server: u32, answered: &Answered<'_>) -> News {
        self.add_line(server, answered)
    }

    /// What the owner may have written of a server's lines.
    #[must_use]
    pub fn owners_limits(&self, server: u32) -> OwnersLimits {
        self.logs
            .get(server as usize)
            .map_or_else(OwnersLimits::default, LineLog::owners_limits)
    }

    /// Writes the line of an answer that was admitted.
    pub(crate) fn write_line(&mut self, whom: Whom, answered: &Answered<'_>) {
        let news = self.add_line(whom.server, answered);
        if news != News::Nothing {
            let are_due = news == News::Due;
            self.batch.note(whom, Note::Lines { are_due });
        }
    }

    fn add_line(&mut self, server: u32, answered: &Answered<'_>) -> News {
        let Some(log) = self.logs.get_mut(server as usize) else {
            return News::Nothing;
        };
        let had_lines = !log.is_empty();
        let news = log.write(answered);
        if !had_lines && !log.is_empty() {
            self.logs_with_lines += 1;
            self.outstanding.set_lines(self.logs_with_lines);
        }
        news
    }
}
