//! Connections forwarded by a trusted proxy.

#![cfg(target_os = "linux")]

mod owner;

use std::io::{Read, Write};
use std::net::TcpStream;

use http_engine::{Address, Network, Proxies, ServerSettings, SettingFlags, write_flags};
use owner::{Event, Owner, fill, read_all, send};

const OFF: ServerSettings = ServerSettings::WITHOUT_TIMEOUTS;
const LINE: &str = "PROXY TCP4 203.0.113.7 192.0.2.1 12345 80\r\n";
const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

fn behind(network: &str, settings: ServerSettings) -> Owner {
    let mut owner = Owner::new(settings);
    let (address, bits) = network.split_once('/').expect("a network");
    let network = Network::new(
        address.parse().expect("an address"),
        bits.parse().expect("bits"),
    );
    let proxies = Proxies {
        networks: vec![network.expect("a network")],
        trusts_unix: false,
    };
    owner.engine.trust_proxies(owner.server, proxies);
    owner
}

fn ip(text: &str) -> Address {
    Address::Ip(text.parse().expect("an address"))
}

fn is_closed(owner: &mut Owner, client: &mut TcpStream) -> bool {
    client.set_nonblocking(true).expect("not blocking");
    let mut byte = [0];
    loop {
        owner.turn();
        match client.read(&mut byte) {
            Ok(count) => return count == 0,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::yield_now()
            }
            Err(_) => return true,
        }
    }
}

#[test]
fn both_ends_are_those_of_the_client() {
    let mut owner = behind("127.0.0.0/8", OFF);
    let mut client = owner.connect();
    send(&mut client, &format!("{LINE}{GET}{GET}"));
    for _ in 0..2 {
        let id = owner.next_request().id;
        let engine = &mut owner.engine;
        assert_eq!(
            engine.remote(id.slot, id.generation),
            Some(ip("203.0.113.7:12345"))
        );
        assert_eq!(
            engine.local(id.slot, id.generation),
            Some(ip("192.0.2.1:80"))
        );
        let peer = engine.peer(id.slot, id.generation);
        assert_eq!(peer, client.local_addr().ok().map(Address::Ip));
    }
}

#[test]
fn a_header_comes_in_single_bytes() {
    let mut owner = behind("127.0.0.1/32", OFF);
    let mut client = owner.connect();
    for byte in format!("{LINE}{GET}").bytes() {
        client.write_all(&[byte]).expect("sent");
        owner.turn();
    }
    assert_eq!(owner.next_request().url, "/x");
}

#[test]
fn a_connection_of_the_proxy_itself_has_its_real_ends() {
    let mut owner = behind("127.0.0.1/32", OFF);
    let mut client = owner.connect();
    client
        .write_all(b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0")
        .expect("sent");
    send(&mut client, GET);
    let id = owner.next_request().id;
    let remote = owner.engine.remote(id.slot, id.generation);
    assert_eq!(remote, client.local_addr().ok().map(Address::Ip));
}

#[test]
fn nobody_else_gets_a_connection() {
    let mut owner = behind("10.0.0.0/8", OFF);
    let mut client = owner.connect();
    let _ = client.write_all(format!("{LINE}{GET}").as_bytes());
    assert!(is_closed(&mut owner, &mut client));
    assert!(
        matches!(owner.events[..], [Event::Drop]),
        "{:?}",
        owner.events
    );
    assert_eq!(owner.engine.connection_count(), 0);
}

#[test]
fn nothing_is_served_without_a_header_not_even_what_is_kept() {
    let mut owner = behind("127.0.0.1/32", OFF);
    owner.keep(fill(
        "/x",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        b"ok",
    ));
    let mut client = owner.connect();
    send(&mut client, GET);
    let code = owner.next(|event| match event {
        Event::Error(_, code) => Some(*code),
        _ => None,
    });
    assert_eq!(code, "ERR_REDLINE_HTTP_PROXY");
    let mut client = owner.connect();
    send(
        &mut client,
        &format!(
            "{LINE}{}",
            GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
        ),
    );
    let reader = std::thread::spawn(move || read_all(&mut client));
    while !reader.is_finished() {
        owner.turn();
    }
    assert!(reader.join().expect("read").ends_with("ok"));
}

#[test]
fn it_is_reported_once_its_header_has_come() {
    let flags = SettingFlags {
        announce: true,
        ..OFF.flags
    };
    let mut owner = behind("127.0.0.1/32", ServerSettings { flags, ..OFF });
    let mut client = owner.connect();
    let (before, behind) = LINE.split_at(20);
    send(&mut client, before);
    for _ in 0..20 {
        owner.turn();
    }
    assert_eq!(owner.events, []);
    send(&mut client, behind);
    let id = owner.next(|event| match event {
        Event::Open(id) => Some(*id),
        _ => None,
    });
    let remote = owner.engine.remote(id.slot, id.generation);
    assert_eq!(remote, Some(ip("203.0.113.7:12345")));
}

#[test]
fn a_header_that_does_not_come_in_time_ends_its_connection() {
    let settings = ServerSettings {
        proxy_timeout: 20,
        ..OFF
    };
    let mut owner = behind("127.0.0.1/32", settings);
    let mut silent = owner.connect();
    let mut client = owner.connect();
    send(&mut client, LINE);
    let code = owner.next(|event| match event {
        Event::Error(_, code) => Some(*code),
        _ => None,
    });
    assert_eq!(code, "ERR_HTTP_REQUEST_TIMEOUT");
    // The limit applies to the header: the request after it has its own.
    send(&mut client, GET);
    let request = owner.next_request();
    owner.write(request.id, 0, write_flags::END, b"ok");
    owner.turn();
    assert_eq!(owner::read_exactly(&mut client, 2), b"ok");
    send(&mut silent, GET);
}
