//! An addon's place in the event loop of an environment: [`Handle`]s of libuv, a [`Callback`] into JavaScript with a scope of its
//! own, [`EnvironmentData`] that is notified of the environment's teardown, and a [`HeldArray`] whose memory both sides use.
//!
//! Node-API's own means are not enough here: a threadsafe function runs a whole batch in one callback scope, and offers no hook
//! just before the loop sleeps.

mod callback;
mod environment_data;
mod handle;
mod held_array;

pub use callback::{Arguments, Callback};
pub use environment_data::{EnvironmentData, discard, register_teardown};
pub use handle::{Handle, OnHandle, OnPoll, Waker, data_of};
pub use held_array::{Element, HeldArray};
