//! Consecutive pieces of a response leave in full packets, without a wait for the last of them.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Read;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::thread;

use http_engine::{ServerSettings, write_flags};
use owner::{Owner, Request, read_exactly, send};

const PIECE: usize = 64 * 1024;
const PIECES: usize = 8;
/// Including its chunk's size and line ends.
const FRAMED: usize = PIECE + 9;

fn connect_and_request() -> (Owner, TcpStream, Request) {
    let mut owner = Owner::new(ServerSettings::default());
    let mut client = owner.connect();
    send(&mut client, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    let request = owner.next_request();
    (owner, client, request)
}

fn write_piece(owner: &mut Owner, request: &Request, flags: u32) {
    let (slot, generation) = (request.id.slot, request.id.generation);
    let piece = vec![b'x'; PIECE];
    owner
        .engine
        .write(slot, generation, request.sequence, flags, 0, &piece)
        .expect("a connection");
}

/// Returns the number of packets with data.
fn packets(client: &TcpStream) -> u32 {
    // SAFETY: an all-zero `tcp_info` is valid, and the kernel writes at most the length of the buffer.
    unsafe {
        let mut facts: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let result = libc::getsockopt(
            client.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut facts).cast(),
            &mut length,
        );
        assert_eq!(result, 0);
        facts.tcpi_data_segs_in
    }
}

#[test]
fn pieces_that_follow_each_other_have_no_small_packets_between_them() {
    let (mut owner, mut client, request) = connect_and_request();
    let reader = thread::spawn(move || {
        let mut all = vec![0; PIECES * FRAMED + 5];
        client.read_exact(&mut all).expect("the response");
        (client, all)
    });
    for _ in 0..PIECES {
        write_piece(&mut owner, &request, write_flags::CHUNK);
    }
    let end = write_flags::CHUNK | write_flags::END;
    owner.write(request.id, request.sequence, end, b"");
    owner.turn();
    while !reader.is_finished() {
        owner.turn();
    }
    let (client, all) = reader.join().expect("a reader");
    assert!(all.ends_with(b"x\r\n0\r\n\r\n"));
    // One or two more than pieces if the kernel takes all at once; without the cork each has a small one after it.
    let packets = packets(&client) as usize;
    assert!(packets < PIECES * 2, "{packets} packets");
}

#[test]
fn the_end_of_a_piece_leaves_with_the_next_flush() {
    let (mut owner, mut client, request) = connect_and_request();
    write_piece(&mut owner, &request, write_flags::CHUNK);
    assert!(owner.engine.outstanding().snapshot().needs_flush());
    owner.engine.flush();
    assert!(!owner.engine.outstanding().snapshot().needs_flush());
    read_exactly(&mut client, FRAMED);
}

#[test]
fn it_leaves_with_the_flush_of_another_thread() {
    let (mut owner, mut client, request) = connect_and_request();
    write_piece(&mut owner, &request, write_flags::CHUNK);
    owner.engine.flush_concurrently();
    assert!(!owner.engine.outstanding().snapshot().needs_flush());
    read_exactly(&mut client, FRAMED);
}

#[test]
fn behind_the_last_piece_nothing_is_kept_back() {
    let (mut owner, mut client, request) = connect_and_request();
    write_piece(&mut owner, &request, write_flags::CHUNK);
    write_piece(&mut owner, &request, write_flags::CHUNK | write_flags::END);
    read_exactly(&mut client, 2 * FRAMED + 5);
}
