//! Starts, reads and reaps processes off the calling thread.
//!
//! A caller opens a [`Port`], requests processes with [`Port::spawn`], and goes on. Spawner threads clone with
//! `CLONE_VM | CLONE_VFORK`, so nothing is copied however large the process is; one reactor thread waits on the pidfds and the
//! pipes; the results come back as [`Event`]s, and the port is woken once per batch.
//!
//! [`run`] does all of it on the calling thread, for one process from its start to its end.
//!
//! Linux 5.4 or newer. The crate does not depend on Node: `cargo test` needs no JavaScript.
#![cfg(target_os = "linux")]

mod block;
mod child;
mod child_main;
mod children;
mod command;
mod engine;
mod environment;
mod event;
mod group;
mod guarded_stack;
mod inbox;
mod killer;
mod launch;
mod lookup;
mod measure;
mod port;
mod procfs;
mod queue;
mod reactor;
mod reaper;
mod request;
mod run;
mod spawner;
mod stream;
mod suspect;
mod sys;
mod tree;
mod turns;
pub mod wire;

pub use block::recycle;
pub use engine::{reap_orphans, supported};
pub use environment::Environment;
pub use event::Event;
pub use measure::{Figures, Times, Usage};
pub use port::{Port, Spawned, Taken};
pub use request::{Extras, Request, Stdio};
pub use run::{Limits, Outcome, run};
pub use stream::FLOW_CREDIT;
pub use sys::{Errno, hang_up, is_readable};
