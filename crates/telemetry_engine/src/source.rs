//! The rings of one engine and of the JavaScript beside it.

use std::collections::HashMap;

use telemetry_ring::ids::Place;
use telemetry_ring::wire::{begin, change, close, end, kind, peer, route, text};
use telemetry_ring::{Reader, Record};

use crate::attributes::{integer, text as put_text};
use crate::changes::Changes;
use crate::connections::{Connections, Over};
use crate::exchange::{Ended, Exchange, Peer, Route};
use crate::head::ATTRIBUTES;
use crate::latin1::utf8;
use crate::shared::Shared;
use crate::span;
use crate::texts::{Numbered, Texts};

/// Max number of changes whose requests were not read yet.
const MAX_EARLY: usize = 1 << 16;

/// Two rings and all that is known from them.
pub(crate) struct Source {
    engine: Option<Reader>,
    own: Reader,
    known: Known,
    /// Words of the engine's ring that the last reading has read.
    pub engine_words: u32,
}

/// Everything that was read.
#[derive(Default)]
struct Known {
    texts: Texts,
    routes: Numbered<Route>,
    /// Those of the engine, and those of servers that JavaScript reports.
    connections: [Connections; 2],
    /// Changes of requests that the engine's ring has not shown yet, and the number of the reading.
    early: HashMap<Place, (u64, Box<Changes>)>,
    readings: u64,
}

/// Which of the two rings: an index of connections.
#[derive(Clone, Copy)]
enum Ring {
    Engine,
    Own,
}

impl Source {
    pub fn new(engine: Option<Reader>, own: Reader) -> Self {
        Self {
            engine,
            own,
            known: Known::default(),
            engine_words: 0,
        }
    }

    /// The ring of its engine.
    pub fn engine(&self) -> Option<&Reader> {
        self.engine.as_ref()
    }

    /// Its rings.
    pub fn rings(&self) -> impl Iterator<Item = &Reader> {
        self.engine.iter().chain([&self.own])
    }

    /// Reads both rings.
    pub fn read(&mut self, shared: &mut Shared) {
        let Self {
            engine, own, known, ..
        } = self;
        known.readings += 1;
        // A change that JavaScript wrote before a response ended is read before its END is.
        let engine_written = engine.as_ref().map(Reader::written);
        read_ring(own, own.written(), known, Ring::Own, shared);
        if let (Some(engine), Some(written)) = (engine, engine_written) {
            self.engine_words = engine.filled();
            read_ring(engine, written, known, Ring::Engine, shared);
        }
        let reading = known.readings;
        known.early.retain(|_, (since, _)| *since == reading);
    }

    /// Ends its requests under way.
    pub fn abandon(&mut self, shared: &mut Shared) {
        for connections in &mut self.known.connections {
            connections.abandon(shared);
        }
    }
}

fn read_ring(
    reader: &mut Reader,
    written: u32,
    known: &mut Known,
    ring: Ring,
    shared: &mut Shared,
) {
    let seed = reader.seed();
    let was_broken = reader.is_broken();
    reader.read_until(written, |record| {
        if known.act(record, ring, &seed, shared).is_none() {
            shared.lost += 1;
        }
    });
    shared.lost += u64::from(reader.take_lost());
    shared.lost += u64::from(reader.is_broken() && !was_broken);
}

/// The place in words that most records begin with.
fn place_of(record: Record<'_>) -> Place {
    Place {
        slot: record.word(begin::SLOT),
        generation: record.word(begin::GENERATION),
        sequence: record.word(begin::SEQUENCE),
    }
}

impl Known {
    /// Returns `None` if the record makes no sense.
    fn act(
        &mut self,
        record: Record<'_>,
        ring: Ring,
        seed: &[u32; 6],
        shared: &mut Shared,
    ) -> Option<()> {
        let connections = &mut self.connections[ring as usize];
        let routes = &self.routes;
        let place = place_of(record);
        match record.kind {
            kind::BEGIN if !connections.has_room() => return None,
            kind::BEGIN => {
                let line = connections.line();
                let mut exchange = Exchange::begin(record, place, seed, line, shared);
                if !self.early.is_empty() {
                    exchange.changes = self.early.remove(&place).map(|(_, changes)| changes);
                }
                connections.begin(place, exchange, shared);
            }
            kind::END => {
                let exchange = connections.exchange(place)?;
                let word = record.word(end::STATUS_AND_ROUTE);
                exchange.ended = Some(Ended {
                    status: (word >> end::STATUS_SHIFT) as u16,
                    route: word & end::MAX_ROUTE,
                });
                let sent_at = record.time(end::SENT_AT);
                if sent_at.as_secs() > 0 {
                    let over = Over::One(place.sequence);
                    connections.finish(place, over, sent_at, routes, shared);
                }
            }
            kind::SENT => {
                let at = record.time(close::AT);
                connections.finish(place, Over::Ended, at, routes, shared);
            }
            kind::CLOSE => {
                let at = record.time(close::AT);
                connections.finish(place, Over::All, at, routes, shared);
            }
            kind::PEER => {
                let length = record.word(peer::LENGTH) as usize;
                let address = record.bytes(peer::BYTES, length);
                let peer = peer_of(address, record.word(peer::PORT));
                let has_room = connections.set_peer(place.slot, place.generation, peer, shared);
                return has_room.then_some(());
            }
            // It never became a request: instrumentations of Node do not see it either.
            kind::REFUSED => {}
            kind::TEXT => {
                let value = string(record, text::BYTES, text::LENGTH)?;
                let is_set = self.texts.set(record.word(text::NUMBER), value);
                return is_set.then_some(());
            }
            kind::ROUTE => {
                let pattern = string(record, route::BYTES, route::LENGTH)?;
                let number = shared.metrics.route(&pattern);
                let route = Route { pattern, number };
                let is_set = self.routes.set(record.word(route::NUMBER), route);
                return is_set.then_some(());
            }
            kind::SPAN => return span::add(record, &self.texts, shared),
            kind::CHANGE => return self.change(record, place, shared),
            _ => return None,
        }
        Some(())
    }

    fn change(&mut self, record: Record<'_>, place: Place, shared: &Shared) -> Option<()> {
        debug_assert_eq!(change::SLOT, begin::SLOT);
        let [engine, own] = &mut self.connections;
        let exchange = engine.exchange(place).or_else(|| own.exchange(place));
        let changes = match exchange {
            Some(exchange) => exchange.changes.get_or_insert_default(),
            None if self.early.len() == MAX_EARLY => return None,
            None => {
                let early = self.early.entry(place).or_default();
                early.0 = self.readings;
                &mut early.1
            }
        };
        changes.apply(record, &self.texts, shared)
    }
}

fn peer_of(address: &[u8], port: u32) -> Peer {
    let mut peer = Peer {
        attributes: Vec::new(),
        client: Vec::new(),
    };
    if !address.is_empty() {
        let address = utf8(address);
        let out = &mut peer.attributes;
        put_text(out, ATTRIBUTES, "network.peer.address", address.as_bytes());
        integer(out, ATTRIBUTES, "network.peer.port", port.into());
        put_text(
            &mut peer.client,
            ATTRIBUTES,
            "client.address",
            address.as_bytes(),
        );
    }
    peer
}

fn string(record: Record<'_>, bytes: usize, length: usize) -> Option<Box<str>> {
    let length = record.word(length) as usize;
    let bytes = record.bytes(bytes, length);
    (bytes.len() == length).then(|| String::from_utf8_lossy(bytes).into())
}
