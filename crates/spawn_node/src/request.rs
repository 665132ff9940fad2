//! Converts JavaScript's requests to the engine's types.

use std::sync::Arc;

use spawn_engine::wire::{extra, stdio};
use spawn_engine::{Environment, Extras, Request, Stdio};

use crate::environ;

/// Builds the request of a call; [`crate::port::Port::spawn`] describes the parameters.
#[allow(clippy::too_many_arguments)]
pub(crate) fn request(
    file: String,
    args: String,
    env: Option<String>,
    cwd: Option<String>,
    detached: bool,
    uid: Option<i32>,
    gid: Option<i32>,
    stdio: Vec<i32>,
    collect_limit: f64,
    extras: u32,
) -> Request {
    Request {
        file: nul_terminated(file),
        args: nul_terminated(args),
        env: match env {
            None => environ::snapshot(),
            Some(env) if env.is_empty() => Arc::default(),
            Some(env) => Arc::new(Environment::new(nul_terminated(env))),
        },
        cwd: cwd.map(nul_terminated),
        detached,
        uid: uid.map(i32::cast_unsigned),
        gid: gid.map(i32::cast_unsigned),
        stdio: stdio
            .into_iter()
            .map(|entry| match entry {
                stdio::IGNORE => Stdio::Ignore,
                stdio::PIPE => Stdio::Pipe,
                stdio::COLLECT => Stdio::Collect(collect_limit as usize),
                fd => Stdio::Inherit(fd),
            })
            .collect(),
        extras: Extras {
            dies_with_parent: extras & extra::DIES_WITH_PARENT != 0,
            usage: extras & extra::USAGE != 0,
            times: extras & extra::TIMES != 0,
            tree: extras & extra::TREE != 0,
        },
    }
}

fn nul_terminated(text: String) -> Vec<u8> {
    let mut bytes = text.into_bytes();
    bytes.push(0);
    bytes
}
