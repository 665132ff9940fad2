use std::io::Read;

use super::*;
use crate::stream::FLOW_CREDIT;

/// A file that epoll refuses, with EPERM.
fn regular_file() -> OwnedFd {
    std::fs::File::open("/proc/self/exe").unwrap().into()
}

fn child(streams: Vec<Stream>) -> (Child, Arc<Inbox>) {
    let inbox = Arc::new(Inbox::new(Box::new(|| {})));
    (
        Child::new(7, Arc::clone(&inbox), streams, Extras::default()),
        inbox,
    )
}

fn exit_before_the_reader(child: &Child, inbox: &Inbox) {
    lock(&child.state).phase = Phase::Exited(42);
    inbox.push(Event::Exited {
        id: 7,
        pid: 42,
        code: 0,
        signal: 0,
    });
}

#[test]
fn an_exit_that_cannot_be_watched_is_an_error_and_no_exit_code() {
    let (child, inbox) = child(Vec::new());
    let pidfd = regular_file();
    let launched = Launched {
        pid: 42,
        pidfd,
        floor_kib: 0,
    };
    child.finish_start(Ok(launched), Vec::new(), &Epoll::new().unwrap());
    assert!(matches!(
        inbox.next(),
        Some(Event::Lost {
            id: 7,
            pid: 42,
            error: libc::EPERM
        })
    ));
    assert!(inbox.next().is_none());
}

#[test]
fn what_was_printed_comes_before_an_exit_that_came_before_the_reader() {
    let (near, far) = sys::socket_pair().unwrap();
    let mut stream = Stream::new(false, true, Mode::Idle);
    stream.fd = Some(near);
    let (child, inbox) = child(vec![stream]);
    sys::send(&far, b"late").unwrap();
    exit_before_the_reader(&child, &inbox);
    child.flow(0, &Epoll::new().unwrap());
    assert!(matches!(inbox.next(), Some(Event::Data { bytes, .. }) if bytes == b"late"));
    assert!(matches!(inbox.next(), Some(Event::Exited { .. })));
}

#[test]
fn an_end_without_a_byte_comes_before_an_exit_that_came_before_the_reader() {
    let (near, far) = sys::socket_pair().unwrap();
    let mut stream = Stream::new(false, true, Mode::Idle);
    stream.fd = Some(near);
    let (child, inbox) = child(vec![stream]);
    drop(far);
    exit_before_the_reader(&child, &inbox);
    child.flow(0, &Epoll::new().unwrap());
    assert!(matches!(inbox.next(), Some(Event::Ended { error: 0, .. })));
    assert!(matches!(inbox.next(), Some(Event::Exited { .. })));
}

#[test]
fn pipes_that_others_hold_can_be_read_to_what_is_in_them_and_then_end() {
    let (near, far) = sys::socket_pair().unwrap();
    let mut stream = Stream::new(false, true, Mode::Idle);
    stream.fd = Some(near);
    let (child, inbox) = child(vec![stream]);
    sys::send(&far, b"last words").unwrap();
    exit_before_the_reader(&child, &inbox);
    child.hang_up();
    let epoll = Epoll::new().unwrap();
    child.flow(0, &epoll);
    assert!(matches!(inbox.next(), Some(Event::Data { bytes, .. }) if bytes == b"last words"));
    assert_eq!(
        child.on_readable(0, &epoll, &mut Vec::with_capacity(64)),
        Wake::Now
    );
    assert!(matches!(inbox.next(), Some(Event::Exited { .. })));
    assert!(matches!(inbox.next(), Some(Event::Ended { error: 0, .. })));
    assert!(sys::send(&far, b"more").is_err());
}

#[test]
fn what_was_readable_together_with_too_much_of_another_stream_is_not_collected() {
    let (ends, streams): (Vec<_>, Vec<_>) = (0..2)
        .map(|_| {
            let (near, far) = sys::socket_pair().unwrap();
            let bytes = Vec::new();
            let mut stream = Stream::new(false, true, Mode::Collect { bytes, limit: 4 });
            stream.fd = Some(near);
            (far, stream)
        })
        .unzip();
    sys::send(&ends[0], b"too much").unwrap();
    sys::send(&ends[1], b"more").unwrap();
    let (child, inbox) = child(streams);
    let epoll = Epoll::new().unwrap();
    for index in 0..2 {
        child.arm(&mut lock(&child.state), index, &epoll);
    }
    let mut scratch = Vec::with_capacity(64);
    assert_eq!(child.on_readable(0, &epoll, &mut scratch), Wake::Now);
    assert_eq!(child.on_readable(1, &epoll, &mut scratch), Wake::Never);
    assert_eq!(child.uncollect(1, false, &epoll), (Vec::new(), false));
    assert!(matches!(
        inbox.next(),
        Some(Event::Overflowed { bytes, .. }) if bytes == b"too much"
    ));
    assert!(inbox.next().is_none());
}

#[test]
fn an_exit_that_somebody_else_has_waited_for_is_an_error_and_no_exit_code() {
    let (child, inbox) = child(Vec::new());
    let mut state = lock(&child.state);
    state.phase = Phase::Running(42);
    // Not a child of this process, so it cannot be waited for.
    state.pidfd = Some(Arc::new(sys::own_pidfd().unwrap()));
    drop(state);
    let wake = child.on_exit(&Epoll::new().unwrap(), &mut Vec::new());
    assert_eq!(wake, Wake::Now);
    assert!(matches!(
        inbox.next(),
        Some(Event::Lost {
            id: 7,
            pid: 42,
            error: libc::ECHILD
        })
    ));
    assert!(inbox.next().is_none());
}

#[test]
fn a_stream_that_cannot_be_watched_ends_with_an_error() {
    let mut stream = Stream::new(false, true, Mode::Flow { credit: 1 });
    stream.fd = Some(regular_file());
    let (child, inbox) = child(vec![stream]);
    let epoll = Epoll::new().unwrap();
    child.arm(&mut lock(&child.state), 0, &epoll);
    assert!(matches!(
        inbox.next(),
        Some(Event::Ended {
            id: 7,
            stream: 0,
            error: libc::EPERM,
            ..
        })
    ));
}

#[test]
fn what_the_reactor_saw_before_a_stream_was_let_go_is_not_read_by_it() {
    let (near, far) = sys::socket_pair().unwrap();
    let bytes = Vec::new();
    let mut stream = Stream::new(false, true, Mode::Collect { bytes, limit: 64 });
    stream.fd = Some(near);
    let (child, inbox) = child(vec![stream]);
    lock(&child.state).phase = Phase::Running(42);
    let epoll = Epoll::new().unwrap();
    child.arm(&mut lock(&child.state), 0, &epoll);
    sys::send(&far, b"kept").unwrap();
    // The caller is faster than the reactor, which has been notified of the bytes.
    assert_eq!(child.uncollect(0, false, &epoll), (Vec::new(), false));
    assert_eq!(
        child.on_readable(0, &epoll, &mut Vec::with_capacity(64)),
        Wake::Never
    );
    child.flow(0, &epoll);
    assert_eq!(
        child.on_readable(0, &epoll, &mut Vec::with_capacity(64)),
        Wake::Now
    );
    assert!(matches!(inbox.next(), Some(Event::Data { bytes, .. }) if bytes == b"kept"));
}

#[test]
fn a_stream_that_is_as_far_ahead_as_it_may_be_has_not_ended() {
    let (near, far) = sys::socket_pair().unwrap();
    let mut stream = Stream::new(false, true, Mode::Flow { credit: 4 });
    stream.fd = Some(near);
    let (child, inbox) = child(vec![stream]);
    let epoll = Epoll::new().unwrap();
    child.arm(&mut lock(&child.state), 0, &epoll);
    sys::send(&far, b"more than that").unwrap();
    let mut scratch = Vec::with_capacity(64);
    // The second call stands for events of the same look that arrive after an exit that has read its full credit.
    assert_eq!(child.on_readable(0, &epoll, &mut scratch), Wake::Now);
    assert_eq!(child.on_readable(0, &epoll, &mut scratch), Wake::Never);
    assert!(matches!(inbox.next(), Some(Event::Data { bytes, .. }) if bytes == b"more"));
    assert!(inbox.next().is_none());
}

/// A running child whose second stream is an output in that mode, and the far end of that.
fn child_with_output(mode: Mode) -> (Child, Arc<Inbox>, OwnedFd) {
    let (near, far) = sys::socket_pair().unwrap();
    let mut stream = Stream::new(false, true, mode);
    stream.fd = Some(near);
    let (child, inbox) = child(vec![Stream::new(false, false, Mode::Idle), stream]);
    lock(&child.state).phase = Phase::Running(42);
    (child, inbox, far)
}

/// Arms the output of that child and handles what the reactor sees within a second.
fn watch(child: &Child, epoll: &Epoll) -> Wake {
    child.arm(&mut lock(&child.state), 1, epoll);
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
    match epoll.wait(&mut events, 1_000) {
        [] => Wake::Never,
        _ => child.on_readable(1, epoll, &mut Vec::with_capacity(64)),
    }
}

#[test]
fn the_end_of_an_output_that_nobody_reads_is_seen_by_the_next_look() {
    for mode in [
        Mode::Idle,
        Mode::Collect {
            bytes: Vec::new(),
            limit: 4,
        },
    ] {
        let (child, inbox, far) = child_with_output(mode);
        inbox.look();
        drop(far);
        assert_eq!(watch(&child, &Epoll::new().unwrap()), Wake::Soon);
        assert!(!child.is_end_seen(1, inbox.looks()));
        inbox.look();
        assert!(child.is_end_seen(1, inbox.looks()));
    }
}

#[test]
fn the_end_of_an_output_that_nobody_reads_is_behind_its_bytes() {
    let (child, inbox, far) = child_with_output(Mode::Idle);
    sys::send(&far, b"kept").unwrap();
    drop(far);
    let epoll = Epoll::new().unwrap();
    assert_eq!(watch(&child, &epoll), Wake::Never);
    inbox.look();
    assert!(!child.is_end_seen(1, inbox.looks()));
    child.flow(1, &epoll);
    assert_eq!(watch(&child, &epoll), Wake::Now);
    assert!(matches!(inbox.next(), Some(Event::Data { bytes, .. }) if bytes == b"kept"));
    assert_eq!(watch(&child, &epoll), Wake::Now);
    assert!(matches!(inbox.next(), Some(Event::Ended { error: 0, .. })));
}

#[test]
fn an_output_that_nobody_reads_and_that_has_not_ended_wakes_nobody() {
    let (child, _, far) = child_with_output(Mode::Idle);
    sys::send(&far, b"kept").unwrap();
    let epoll = Epoll::new().unwrap();
    child.arm(&mut lock(&child.state), 1, &epoll);
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
    assert!(epoll.wait(&mut events, 0).is_empty());
}

#[test]
fn discarded_bytes_are_counted_until_the_end() {
    let epoll = Epoll::new().unwrap();
    let (child, _, far) = child_with_output(Mode::Idle);
    sys::send(&far, b"gone").unwrap();
    drop(far);
    assert_eq!(child.drain(&epoll), [Some(0), Some(4)]);

    let (child, inbox, far) = child_with_output(Mode::Idle);
    sys::send(&far, b"gone").unwrap();
    assert_eq!(child.drain(&epoll), [Some(0), None]);
    sys::send(&far, b"too").unwrap();
    assert_eq!(watch(&child, &epoll), Wake::Never);
    drop(far);
    assert_eq!(watch(&child, &epoll), Wake::Now);
    let drained = Event::Drained {
        id: 7,
        stream: 1,
        bytes: 7,
    };
    assert_eq!(inbox.next(), Some(drained));
}

#[test]
fn a_stream_that_is_accessed_while_it_is_discarded_keeps_its_further_bytes() {
    let epoll = Epoll::new().unwrap();
    let (child, inbox, far) = child_with_output(Mode::Idle);
    sys::send(&far, b"gone").unwrap();
    assert_eq!(child.drain(&epoll), [Some(0), None]);
    assert_eq!(child.stop_draining(1, &epoll), 4);
    sys::send(&far, b"kept").unwrap();
    child.flow(1, &epoll);
    assert_eq!(watch(&child, &epoll), Wake::Now);
    assert!(matches!(inbox.next(), Some(Event::Data { bytes, .. }) if bytes == b"kept"));
}

#[test]
fn the_bytes_of_an_output_that_has_ended_come_once() {
    for size in [0, 5, FLOW_CREDIT, 8 << 20] {
        let (near, beside) = ended_pipe(vec![7; size]);
        let mut inside = Vec::new();
        let mut reader = std::fs::File::from(near.unwrap());
        reader.read_to_end(&mut inside).unwrap();
        assert_eq!(inside.len() + beside.len(), size);
    }
}
