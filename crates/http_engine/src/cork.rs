//! Packs consecutive pieces of a response into full packets.
//!
//! A piece of 64 KiB with its chunk framing is 61 bytes longer than the largest packet of the loopback, and hardly ever a whole
//! number of a network's packets: a small packet would follow each piece, which costs the kernel of both sides as much as a full
//! one, apart from the copying. The kernel keeps that remainder back for the next piece (TCP_CORK). It is never waited for: the
//! next write takes it along, otherwise it leaves with the owner's next flush, or with that of a thread beside it.

use crate::connection::{Connection, Packets};
use crate::engine::Engine;
use crate::sys;

impl Engine {
    /// Corks a connection: only full packets leave until it is uncorked.
    pub(crate) fn cork(&mut self, connection: &mut Connection) {
        if connection.packets == Packets::Full {
            return;
        }
        connection.packets = Packets::Full;
        set(connection);
        self.corked.push(connection.id);
        self.outstanding.set_corked(true);
    }

    /// Uncorks all connections. Returns true if any was corked.
    pub(crate) fn uncork_all(&mut self) -> bool {
        if self.corked.is_empty() {
            return false;
        }
        let mut corked = std::mem::take(&mut self.corked);
        for id in corked.drain(..) {
            self.with(id.slot, id.generation, |_, connection| {
                uncork(connection);
            });
        }
        self.corked = corked;
        self.outstanding.set_corked(false);
        true
    }
}

/// Uncorks a connection with nothing to follow: its remaining bytes leave at once.
pub(crate) fn uncork(connection: &mut Connection) {
    if connection.packets == Packets::Full {
        connection.packets = Packets::All;
        set(connection);
    }
}

/// Sets the option. A Unix socket has no packets, and returns an error.
fn set(connection: &Connection) {
    let _ = sys::set_option(
        &connection.fd,
        libc::IPPROTO_TCP,
        libc::TCP_CORK,
        (connection.packets == Packets::Full).into(),
    );
}
