//! The owner's calls about the responses that a server sends by itself.

use crate::address;
use crate::engine::Engine;
use crate::server::Source;
use crate::server_store::ServerStore;
use crate::store::{Fill, StoreHandle};
use crate::sys;
use crate::wire::outcome;

impl Engine {
    /// Makes a server respond by itself. With `is_shared`, all servers of the process that listen on its address use one store.
    pub fn open_store(&mut self, server: u32, max_bytes: usize, is_shared: bool) {
        let Some(Some(entry)) = self.servers.get_mut(server as usize) else {
            return;
        };
        if entry.store.is_some() || matches!(entry.source, Source::Stopped) {
            return;
        }
        let listener = entry.source.listener().filter(|_| is_shared);
        let address = listener.and_then(|listener| address::local(&listener.fd).ok());
        let store = match address {
            Some(address) => StoreHandle::shared(format!("{address:?}"), max_bytes),
            None => StoreHandle::private(max_bytes),
        };
        entry.store = Some(ServerStore::new(store));
    }

    /// Leaves all requests of a server to its owner again.
    pub fn close_store(&mut self, server: u32) {
        if let Some(Some(entry)) = self.servers.get_mut(server as usize) {
            entry.store = None;
        }
    }

    /// Keeps a response, or returns the reason against it: one of [`outcome`].
    pub fn keep(&mut self, server: u32, mut fill: Fill) -> u32 {
        let ring = self
            .exchanges
            .as_ref()
            .map_or(0, |exchanges| exchanges.ring);
        fill.response.set_ring(ring);
        match self.server_store(server) {
            Some(store) => store.responses.keep(fill, sys::now_ms()),
            None => outcome::NOT_SERVED,
        }
    }

    /// Counts a response that the owner did not hand over.
    pub fn count_outcome(&mut self, server: u32, outcome: u32) {
        if let Some(store) = self.server_store(server)
            && (outcome as usize) < outcome::COUNT
        {
            store.responses.counts.add_outcome(outcome);
        }
    }

    /// Drops every response to a target, including those being generated.
    pub fn drop_target(&mut self, server: u32, target: &[u8]) {
        if let Some(store) = self.server_store(server) {
            store.responses.drop_target(target);
        }
    }

    /// Drops every response that has one of the tags, including those being generated.
    pub fn drop_tags<'a>(&mut self, server: u32, tags: impl Iterator<Item = &'a str>) {
        if let Some(store) = self.server_store(server) {
            store.responses.drop_tags(tags);
        }
    }

    /// Drops every response, including those being generated.
    pub fn clear_store(&mut self, server: u32) {
        if let Some(store) = self.server_store(server) {
            store.responses.clear();
        }
    }

    /// Returns the counts of a server's responses, in the order of [`crate::wire::answer_count`]; empty without a store.
    pub fn store_counts(&mut self, server: u32) -> Vec<u64> {
        let store = self.server_store(server);
        store.map_or(Vec::new(), |store| store.responses.all_counts())
    }

    /// Sets the request header, in lower case, whose value is reported with every response that the engine sends.
    pub fn set_id_header(&mut self, server: u32, name: &[u8]) {
        if let Some(Some(entry)) = self.servers.get_mut(server as usize) {
            entry.id_header = (!name.is_empty()).then(|| name.into());
            if let Some(store) = &mut entry.store {
                store.clear_blocks();
            }
        }
    }

    fn server_store(&mut self, server: u32) -> Option<&mut ServerStore> {
        self.servers
            .get_mut(server as usize)?
            .as_mut()?
            .store
            .as_mut()
    }
}
