//! The engine of `@redline/http` as a Node-API addon: numbers in, batches out. JavaScript creates the objects.

mod busy_poll;
mod delivery;
mod fill;
mod interface;
mod io_thread;
mod js_types;
mod lines;
mod lock;
mod loop_handles;
mod memory;
mod port;
mod port_connections;
mod port_store;
mod sender;
mod shared;
mod turn;
