//! An addon's place in the event loop of an environment: [`Handle`]s of libuv's, a [`Callback`] into JavaScript with a scope of
//! its own, and a [`Resident`] that is notified of the environment's end.
//!
//! Node-API's own means are not enough here: a threadsafe function runs a whole batch in one callback scope, and nothing of it
//! runs just before the loop sleeps.

mod callback;
mod handle;
mod resident;

pub use callback::{Arguments, Callback};
pub use handle::{Handle, OnHandle, OnPoll, Waker, data_of};
pub use resident::{Resident, discard, settle};
