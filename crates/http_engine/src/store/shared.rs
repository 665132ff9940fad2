//! Threads of a process that listen at one address share a store: whichever of them the kernel gives a connection to, it answers
//! with what the others were told.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Store;

/// The stores that are shared, by the address of their servers.
static SHARED: Mutex<Vec<(String, Weak<Store>)>> = Mutex::new(Vec::new());

/// A server's own store, or its part in a shared one.
pub(crate) struct StoreHandle {
    store: Arc<Store>,
    is_shared: bool,
}

impl StoreHandle {
    pub fn own(max_bytes: usize) -> Self {
        Self {
            store: Arc::new(Store::new(max_bytes)),
            is_shared: false,
        }
    }

    /// The first one decides how large the store is.
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
    /// Of what a thread had kept nobody hears any more that it is to be dropped.
    fn drop(&mut self) {
        if self.is_shared {
            self.store.clear();
        }
    }
}
