//! The children of this process, and the epoll instance that watches them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::child::Child;
use crate::inbox::Inbox;
use crate::sys::{Epoll, Errno, lock};

pub(crate) struct Children {
    pub epoll: Epoll,
    by_id: Mutex<HashMap<u64, Arc<Child>>>,
    next_id: AtomicU64,
}

impl Children {
    pub fn new() -> Result<Self, Errno> {
        Ok(Self {
            epoll: Epoll::new()?,
            by_id: Mutex::default(),
            next_id: AtomicU64::new(1),
        })
    }

    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub fn remember(&self, child: &Arc<Child>) {
        lock(&self.by_id).insert(child.id, Arc::clone(child));
    }

    pub fn find(&self, id: u64) -> Option<Arc<Child>> {
        lock(&self.by_id).get(&id).cloned()
    }

    pub fn forget_if_over(&self, child: &Child) {
        if child.is_over() {
            lock(&self.by_id).remove(&child.id);
        }
    }

    /// Returns the children that report to `inbox`.
    pub fn of(&self, inbox: &Arc<Inbox>) -> Vec<Arc<Child>> {
        lock(&self.by_id)
            .values()
            .filter(|child| Arc::ptr_eq(&child.inbox, inbox))
            .cloned()
            .collect()
    }
}
