//! The engine of `@redline/child-process` as a Node-API addon: types in, facts out. JavaScript constructs the errors.

mod delivery;
mod environ;
mod figures;
mod interface;
mod port;
mod request;
mod run;
