//! Pieces of a response that follow each other at once leave in full packets.
//!
//! A piece of 64 KiB in the frame of its chunk is 61 bytes longer than the largest packet of the loopback, and hardly ever a
//! whole number of a network's packets: a small packet would follow each piece, which costs the kernel of both sides what a full
//! one does, copying aside. The kernel keeps that end back for the piece that follows (TCP_CORK). Nobody waits for it: whoever has
//! written more takes it along, and otherwise it leaves with the owner's next flush, or with that of a thread beside it.

use crate::connection::{Connection, Packets};
use crate::engine::Engine;
use crate::sys;

impl Engine {
    /// From here on only full packets leave.
    pub(crate) fn cork(&mut self, connection: &mut Connection) {
        if connection.packets == Packets::Full {
            return;
        }
        connection.packets = Packets::Full;
        set(connection);
        self.corked.push(connection.whom);
        self.outstanding.set_corked(true);
    }

    /// The rest leaves too. Says whether there was any.
    pub(crate) fn uncork_all(&mut self) -> bool {
        if self.corked.is_empty() {
            return false;
        }
        let mut corked = std::mem::take(&mut self.corked);
        for whom in corked.drain(..) {
            self.with(whom.slot, whom.generation, |_, connection| {
                uncork(connection);
            });
        }
        self.corked = corked;
        self.outstanding.set_corked(false);
        true
    }
}

/// Nothing follows: the rest of this connection leaves at once.
pub(crate) fn uncork(connection: &mut Connection) {
    if connection.packets == Packets::Full {
        connection.packets = Packets::All;
        set(connection);
    }
}

/// A Unix socket has no packets, and returns an error.
fn set(connection: &Connection) {
    let _ = sys::set_option(
        &connection.fd,
        libc::IPPROTO_TCP,
        libc::TCP_CORK,
        (connection.packets == Packets::Full).into(),
    );
}
