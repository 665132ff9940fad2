//! Shared stores: threads of a process that listen on one address share a store, and each responds from what all of them have
//! kept, whichever the kernel assigns a connection to.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Store;

/// Shared stores, by the address their servers listen on.
static SHARED: Mutex<Vec<(String, Weak<Store>)>> = Mutex::new(Vec::new());

/// A server's own store, or its reference to a shared one.
pub(crate) struct StoreHandle {
    store: Arc<Store>,
    is_shared: bool,
}

impl StoreHandle {
    pub fn private(max_bytes: usize) -> Self {
        Self {
            store: Arc::new(Store::new(max_bytes)),
            is_shared: false,
        }
    }

    /// Returns the store of an address. The first server there determines its size.
    pub fn shared(address: String, max_bytes: usize) -> Self {
        let mut stores = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|(_, store)| store.strong_count() > 0);
        let of_address = |(of, store): &(String, Weak<Store>)| {
            (*of == address).then(|| store.upgrade()).flatten()
        };
        let store = stores.iter().find_map(of_address).unwrap_or_else(|| {
            let store = Arc::new(Store::new(max_bytes));
            stores.push((address, Arc::downgrade(&store)));
            store
        });
        Self {
            store,
            is_shared: true,
        }
    }
}

impl Deref for StoreHandle {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Drop for StoreHandle {
    /// Empties a shared store: the ending thread may have been the only one notified of drops for the responses it kept.
    fn drop(&mut self) {
        if self.is_shared {
            self.store.clear();
        }
    }
}
