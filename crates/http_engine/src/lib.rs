//! An HTTP/1.1 server in one epoll instance, which reports events to its owner in batches and takes responses from memory it
//! shares with it.
//!
//! An [`Engine`] listens with [`Engine::listen`]. The owner calls [`Engine::poll`] when its descriptor is readable, which fills a
//! batch of records ([`wire`]), and [`Engine::flush`] to send the writes in the command memory. Framing is as strict as Node's:
//! input that llhttp refuses is refused with the same code, reason and position.
//!
//! Linux only. The crate does not depend on Node: `cargo test` needs no JavaScript.
#![cfg(target_os = "linux")]

mod accept;
mod address;
mod authority;
mod batch;
mod body;
mod cache_headers;
pub mod chunked;
mod connection;
mod control;
mod control_store;
mod cork;
mod credentials;
mod date;
mod deadlines;
pub mod diagnose;
mod encoding;
mod ending;
mod engine;
mod exchanges;
mod file;
mod framing;
pub mod head;
mod header_lines;
mod header_name;
mod header_value;
mod line_log;
mod listener;
mod logging;
mod method;
mod name_filter;
mod observe;
mod outstanding;
mod pacing;
mod page_cache;
pub mod problem;
mod proxies;
pub mod proxy_header;
mod read;
mod read_body;
mod read_proxy;
mod ready;
mod repeat_cache;
mod request;
mod response_queue;
mod send;
mod send_file;
mod serve_stored;
mod server;
mod server_store;
mod store;
mod stored_response;
mod sys;
mod timers;
mod wake;
pub mod wire;
mod write;

pub use address::Address;
pub use control::Detached;
pub use credentials::{ANALYTICS_COOKIES, CREDENTIALS};
pub use engine::{Engine, Memory, Polled};
pub use file::FileRange;
pub use header_name::KNOWN_NAMES;
pub use line_log::{Begin, Clock, LinePlan, LoggedResponse, News, OwnersLimits, ResponseTime};
pub use listener::{Bind, ListenOptions};
pub use method::METHODS;
pub use outstanding::Outstanding;
pub use proxies::{Network, Proxies};
pub use server::{ServerSettings, SettingFlags};
pub use store::{Fill, Identity, KeyPlan, ticket};
pub use stored_response::{ResponseParts, StoredResponse};
pub use sys::{Errno, copy_connection};
pub use wire::write_flags;
