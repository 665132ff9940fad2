//! A process without free descriptors. The limit applies to the whole process, so this file has a single test.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Read;
use std::os::fd::AsRawFd;

use http_engine::{ServerSettings, write_flags};
use owner::{Owner, read_exactly, send};

#[test]
fn connections_are_refused_and_those_that_are_there_go_on() {
    let mut owner = Owner::new(ServerSettings::default());
    let mut upgrading = owner.connect();
    send(
        &mut upgrading,
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    );
    let mut served = owner.connect();
    owner.engine.flush();
    let mut words = 0;
    while words == 0 {
        words = owner.engine.poll().words;
    }
    let request = owner.peek(words);
    let mut refused = owner.connect();

    let mut before = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structures live through their calls; the copy of a descriptor is closed at once.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut before);
        let next = libc::dup(0);
        libc::close(next);
        let full = libc::rlimit {
            rlim_cur: next as libc::rlim_t,
            ..before
        };
        libc::setrlimit(libc::RLIMIT_NOFILE, &full);
    }
    let id = request.id;
    let detached = owner.engine.detach(id.slot, id.generation);
    let detached = detached.expect("it needs no descriptor of its own");
    assert!(detached.fd.as_raw_fd() >= 0);
    owner.engine.unlock_batch();
    send(&mut served, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    let request = owner.until(|events| {
        events.iter().find_map(|event| match event {
            owner::Event::Request(request) if request.url == "/x" => Some(request.clone()),
            _ => None,
        })
    });
    owner.write(request.id, 0, write_flags::END, b"k");
    owner.turn();
    assert_eq!(read_exactly(&mut served, 1), b"k");
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &before) };
    let end = refused.read(&mut [0; 1]);
    assert!(end.is_ok_and(|read| read == 0));
}
