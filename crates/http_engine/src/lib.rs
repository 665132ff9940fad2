//! An HTTP/1.1 server in one epoll, which tells its owner what happened in batches and takes answers from memory it
//! shares with it.
//!
//! An [`Engine`] listens with [`Engine::listen`], is asked to [`Engine::poll`] when its descriptor is readable, fills a
//! batch of records ([`wire`]) and sends what the owner wrote into the command memory when told to [`Engine::flush`].
//! Framing is as strict as Node's: what llhttp refuses is refused with the same code, reason and position.
//!
//! Linux only. The crate knows nothing of Node: `cargo test` needs no JavaScript.
#![cfg(target_os = "linux")]

mod accept;
mod address;
mod answer_kept;
mod answers;
mod asked;
mod authority;
mod batch;
mod body;
pub mod chunked;
mod connection;
mod control;
mod cork;
mod credentials;
mod date;
mod deadlines;
pub mod diagnose;
mod encoding;
mod ending;
mod engine;
mod file;
pub mod head;
mod header_lines;
mod header_name;
mod header_value;
mod kept_answer;
mod line_log;
mod listener;
mod logging;
mod method;
mod name_filter;
mod outstanding;
mod own_answers;
mod pacing;
pub mod problem;
mod proxies;
pub mod proxy_header;
mod read;
mod read_body;
mod read_proxy;
mod ready;
mod request;
mod seen;
mod send_file;
mod server;
mod store;
mod sys;
mod timers;
pub mod wire;
mod write;

pub use address::Address;
pub use control::Detached;
pub use credentials::{ANALYTICS_COOKIES, CREDENTIALS};
pub use engine::{Engine, Memory, Polled};
pub use file::FileRange;
pub use header_name::KNOWN_NAMES;
pub use kept_answer::{KeptAnswer, Parts};
pub use line_log::{Answered, Begin, Clock, LinePlan, News, OwnersLimits, Took};
pub use listener::{Bind, ListenOptions};
pub use method::METHODS;
pub use outstanding::Outstanding;
pub use proxies::{Network, Proxies};
pub use server::{ServerSettings, SettingFlags};
pub use store::{Fill, Identity, Plan, ticket};
pub use sys::{Errno, copy_connection};
pub use wire::write_flags;
