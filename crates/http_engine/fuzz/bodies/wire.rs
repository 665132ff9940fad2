//! A whole engine on a socket pair understands a stream of bytes the same, however it is cut, and survives it. An observer gets
//! the facts of each request.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

#[path = "../../tests/owner/mod.rs"]
mod owner;

use http_engine::{ServerSettings, SettingFlags, write_flags};
use owner::ring::{Fact, Ring, facts};
use owner::{Event, Owner};

/// What an application sees of a stream: bodies joined, however they came.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    requests: Vec<(&'static str, String, Vec<u8>)>,
    error: Option<&'static str>,
}

pub fn run(bytes: &[u8]) {
    let Some((step, bytes)) = bytes.split_first() else {
        return;
    };
    // More would not fit in the socket before it is read.
    let bytes = &bytes[..bytes.len().min(16 * 1024)];
    let whole = serve(bytes, bytes.len().max(1));
    let pieces = serve(bytes, usize::from(*step) + 1);
    let complete = |seen: &Seen| {
        seen.requests
            .iter()
            .map(|(_, url, _)| url.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(complete(&whole), complete(&pieces));
    assert_eq!(
        whole.error.is_some(),
        pieces.error.is_some(),
        "{whole:?} {pieces:?}"
    );
}

fn serve(bytes: &[u8], step: usize) -> Seen {
    let settings = ServerSettings {
        max_header_size: 1024,
        flags: SettingFlags::default(),
        ..ServerSettings::default()
    };
    let mut owner = Owner::new(settings);
    let mut ring = Ring::of_heads();
    ring.observe(&mut owner);
    let (mut client, served) = UnixStream::pair().expect("a pair");
    served.set_nonblocking(true).expect("not blocking");
    let server = owner.server;
    owner.engine.adopt(server, OwnedFd::from(served));
    let mut seen = Seen::default();
    let mut is_open = true;
    for piece in bytes.chunks(step) {
        if !is_open || client.write_all(piece).is_err() {
            break;
        }
        // Twice: what a response set free is parsed in the next turn.
        for _ in 0..4 {
            owner.turn();
            is_open &= take(&mut owner, &mut seen);
        }
    }
    owner.turn();
    check(&ring.facts(), &seen);
    seen
}

/// Each request begins once, and ends once or with its connection.
fn check(written: &[Fact], seen: &Seen) {
    let mut begun = 0;
    let mut open = Vec::new();
    let mut refused = 0;
    for fact in written {
        match fact {
            Fact::Begin(id, sequence, line, ..) => {
                let (method, url, _) = &seen.requests[begun];
                assert_eq!(*line, format!("{method} {url}"));
                begun += 1;
                open.push((*id, *sequence));
            }
            Fact::End(id, sequence, ..) => {
                let place = open.iter().position(|each| *each == (*id, *sequence));
                open.remove(place.expect("an end after its begin"));
            }
            Fact::Close(id, _) => open.retain(|(of, _)| of != id),
            Fact::Refused(..) => refused += 1,
            Fact::Peer(..) | Fact::Sent(_) => {}
        }
    }
    assert_eq!(begun, seen.requests.len());
    assert_eq!(open, []);
    assert!(refused <= usize::from(seen.error.is_some()));
}

/// Answers everything at once.
fn take(owner: &mut Owner, seen: &mut Seen) -> bool {
    for event in std::mem::take(&mut owner.events) {
        match event {
            Event::Request(request) => {
                let last = (write_flags::END, facts(200, 1));
                owner.write_with(request.id, request.sequence, last, b"k");
                seen.requests
                    .push((request.method, request.url, request.body));
            }
            Event::Body(_, bytes) => {
                if let Some((_, _, body)) = seen.requests.last_mut() {
                    body.extend(bytes);
                }
            }
            Event::Error(id, code) => {
                assert!(seen.error.is_none(), "an error is reported once");
                seen.error = Some(code);
                owner.write(id, 0, write_flags::RAW | write_flags::CLOSE, b"");
                return false;
            }
            Event::Close(..) => return false,
            _ => {}
        }
    }
    true
}
