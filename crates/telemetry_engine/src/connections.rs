//! Requests under way, by their connections.

use std::time::Duration;

use telemetry_ring::ids::Place;

use crate::exchange::{Exchange, Peer, Route};
use crate::finish::finish;
use crate::hash::NumberMap;
use crate::shared::Shared;
use crate::texts::Numbered;

/// Max number of connections of a ring, and of requests under way.
const MAX: usize = 1 << 18;
/// Max number of request lines whose memory is kept, and their size.
const MAX_SPARE: usize = 1_024;
const MAX_SPARE_BYTES: usize = 4_096;

/// A connection, or the slot of one.
struct Connection {
    generation: u32,
    peer: Option<Peer>,
    exchanges: Vec<Exchange>,
}

/// The requests of a connection that a record ends.
#[derive(Clone, Copy)]
pub(crate) enum Over {
    /// That of this number.
    One(u32),
    /// Those whose responses had ended.
    Ended,
    /// All: the connection is closed.
    All,
}

impl Over {
    fn has(self, exchange: &Exchange) -> bool {
        match self {
            Self::One(sequence) => exchange.sequence == sequence,
            Self::Ended => exchange.ended.is_some(),
            Self::All => true,
        }
    }
}

/// The connections of a ring.
#[derive(Default)]
pub(crate) struct Connections {
    by_slot: NumberMap<u32, Connection>,
    under_way: usize,
    spare: Vec<Vec<u8>>,
}

impl Connections {
    /// Notes the other end of a connection. Returns false if there are too many.
    pub fn set_peer(
        &mut self,
        slot: u32,
        generation: u32,
        peer: Peer,
        shared: &mut Shared,
    ) -> bool {
        let connection = self.open(slot, generation, shared);
        connection.is_some_and(|connection| {
            connection.peer = Some(peer);
            true
        })
    }

    /// Returns memory for a request line.
    pub fn line(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Returns true if another request can be under way.
    pub fn has_room(&self) -> bool {
        self.under_way < MAX
    }

    pub fn begin(&mut self, place: Place, exchange: Exchange, shared: &mut Shared) {
        match self.open(place.slot, place.generation, shared) {
            Some(connection) => {
                connection.exchanges.push(exchange);
                self.under_way += 1;
            }
            None => {
                shared.metrics.leave(exchange.method, exchange.how);
                shared.lost += 1;
            }
        }
    }

    pub fn exchange(&mut self, place: Place) -> Option<&mut Exchange> {
        let connection = self.by_slot.get_mut(&place.slot)?;
        let mut exchanges = connection.exchanges.iter_mut();
        let is_same = connection.generation == place.generation;
        exchanges.find(|exchange| is_same && exchange.sequence == place.sequence)
    }

    /// Ends the count of all requests under way: what follows of them is not read.
    pub fn abandon(&mut self, shared: &mut Shared) {
        for connection in std::mem::take(&mut self.by_slot).values() {
            for exchange in &connection.exchanges {
                shared.metrics.leave(exchange.method, exchange.how);
            }
        }
        self.under_way = 0;
    }

    /// Finishes requests of a connection; of an unknown one, none.
    pub fn finish(
        &mut self,
        place: Place,
        over: Over,
        at: Duration,
        routes: &Numbered<Route>,
        shared: &mut Shared,
    ) {
        let Some(connection) = self.by_slot.get_mut(&place.slot) else {
            return;
        };
        if connection.generation != place.generation {
            return;
        }
        let mut index = 0;
        while let Some(exchange) = connection.exchanges.get(index) {
            if !over.has(exchange) {
                index += 1;
                continue;
            }
            let exchange = connection.exchanges.remove(index);
            let route = routes.get(exchange.route());
            finish(&exchange, at, connection.peer.as_ref(), route, shared);
            if self.spare.len() < MAX_SPARE && exchange.line.capacity() <= MAX_SPARE_BYTES {
                self.spare.push(exchange.line);
            }
            self.under_way -= 1;
        }
        if matches!(over, Over::All) {
            self.by_slot.remove(&place.slot);
        }
    }

    /// Returns a connection. One of an earlier generation was closed, though its CLOSE was lost.
    fn open(&mut self, slot: u32, generation: u32, shared: &mut Shared) -> Option<&mut Connection> {
        if self.by_slot.len() >= MAX && !self.by_slot.contains_key(&slot) {
            return None;
        }
        let connection = self.by_slot.entry(slot).or_insert_with(|| Connection {
            generation,
            peer: None,
            exchanges: Vec::new(),
        });
        if connection.generation != generation {
            for exchange in connection.exchanges.drain(..) {
                shared.metrics.leave(exchange.method, exchange.how);
                shared.lost += 1;
                self.under_way -= 1;
            }
            connection.generation = generation;
            connection.peer = None;
        }
        Some(connection)
    }
}
