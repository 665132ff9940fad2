//! Log lines of responses, and their reports to the owner.

use crate::batch::{ConnectionId, Event};
use crate::engine::Engine;
use crate::line_log::{LineLog, LinePlan, LoggedResponse, News, OwnersLimits};

impl Engine {
    /// Sets the format of the later log lines of a server's own responses; `None` writes none. Waiting lines stay.
    pub fn log_lines(&mut self, server: u32, plan: Option<LinePlan>) {
        let index = server as usize;
        if self.logs.len() <= index {
            self.logs.resize_with(index + 1, LineLog::default);
        }
        self.logs[index].set_plan(plan);
    }

    /// Moves the oldest lines of a server, only whole ones, to the start of `into`, and returns the number of bytes. Lines
    /// outlive their server.
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

    /// Leaves every later request that is due a line to the owner: the lines that it takes next are the last ones.
    pub fn close_log(&mut self, server: u32) {
        if let Some(log) = self.logs.get_mut(server as usize) {
            log.close();
        }
    }

    /// Writes the line of a response made by the owner, and returns the resulting news. The owner checks that the engine can
    /// write it, and has room: it has the plan, takes the lines, and reads [`Engine::owners_limits`].
    pub fn write_owners_line(&mut self, server: u32, response: &LoggedResponse<'_>) -> News {
        self.add_line(server, response)
    }

    /// Returns the limits for the owner's lines of a server.
    #[must_use]
    pub fn owners_limits(&self, server: u32) -> OwnersLimits {
        self.logs
            .get(server as usize)
            .map_or_else(OwnersLimits::default, LineLog::owners_limits)
    }

    /// Writes the line of an admitted response.
    pub(crate) fn write_line(&mut self, id: ConnectionId, response: &LoggedResponse<'_>) {
        let news = self.add_line(id.server, response);
        if news != News::Nothing {
            let are_due = news == News::Due;
            self.batch.report(id, Event::Lines { are_due });
        }
    }

    fn add_line(&mut self, server: u32, response: &LoggedResponse<'_>) -> News {
        let Some(log) = self.logs.get_mut(server as usize) else {
            return News::Nothing;
        };
        let had_lines = !log.is_empty();
        let news = log.write(response);
        if !had_lines && !log.is_empty() {
            self.logs_with_lines += 1;
            self.outstanding.set_lines(self.logs_with_lines);
        }
        news
    }
}
