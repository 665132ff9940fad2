use super::*;

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
    assert!(child.on_readable(0, &epoll, &mut Vec::with_capacity(64)));
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
    assert!(child.on_readable(0, &epoll, &mut scratch));
    assert!(!child.on_readable(1, &epoll, &mut scratch));
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
    assert!(child.on_exit(&Epoll::new().unwrap(), &mut Vec::new()));
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
    assert!(!child.on_readable(0, &epoll, &mut Vec::with_capacity(64)));
    child.flow(0, &epoll);
    assert!(child.on_readable(0, &epoll, &mut Vec::with_capacity(64)));
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
    assert!(child.on_readable(0, &epoll, &mut scratch));
    assert!(!child.on_readable(0, &epoll, &mut scratch));
    assert!(matches!(inbox.next(), Some(Event::Data { bytes, .. }) if bytes == b"more"));
    assert!(inbox.next().is_none());
}
