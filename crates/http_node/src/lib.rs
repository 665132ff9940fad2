//! The engine of `@redline/http` as a Node-API addon: numbers in, batches out. JavaScript makes the objects.

mod delivery;
mod fill;
mod io_thread;
mod lines;
mod lock;
mod lone;
mod loop_handles;
mod memory;
mod port;
mod sender;
mod shapes;
mod shared;
mod turn;
