//! The engine on real processes.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use spawn_engine::{Environment, Event, FLOW_CREDIT, Port, Request, Stdio};

struct Harness {
    port: Port,
    woken: Receiver<()>,
    seen: Vec<Event>,
}

fn harness() -> Harness {
    let (wake, woken) = channel();
    let port = Port::open(move || {
        let _ = wake.send(());
    })
    .unwrap();
    Harness {
        port,
        woken,
        seen: Vec::new(),
    }
}

impl Harness {
    fn spawn(&self, request: Request) -> Result<u64, i32> {
        self.port.spawn(request).map(|spawned| spawned.id)
    }

    fn until(&mut self, what: impl Fn(&Event) -> bool) -> usize {
        loop {
            if let Some(index) = self.seen.iter().position(&what) {
                return index;
            }
            self.woken.recv_timeout(Duration::from_secs(20)).unwrap();
            self.seen
                .extend(std::iter::from_fn(|| self.port.next_event()));
        }
    }

    fn until_exit(&mut self, child: u64) -> (i32, i32) {
        let index = self.until(|event| matches!(event, Event::Exited { id, .. } if *id == child));
        match self.seen[index] {
            Event::Exited { code, signal, .. } => {
                self.port.acknowledge(child);
                (code, signal)
            }
            _ => unreachable!(),
        }
    }

    fn collected(&self, child: u64) -> Vec<u8> {
        self.seen
            .iter()
            .find_map(|event| match event {
                Event::Ended {
                    id,
                    stream: 1,
                    bytes,
                    ..
                } if *id == child => Some(bytes.clone()),
                _ => None,
            })
            .unwrap_or_default()
    }
}

fn shell(script: &str, stdout: Stdio) -> Request {
    Request {
        file: b"/bin/sh\0".to_vec(),
        args: format!("sh\0-c\0{script}\0").into_bytes(),
        env: Environment::new(b"PATH=/usr/bin:/bin\0".to_vec()).into(),
        stdio: vec![Stdio::Ignore, stdout, Stdio::Ignore],
        ..Request::default()
    }
}

#[test]
fn output_is_collected_before_the_exit_is_reported() {
    let mut harness = harness();
    let id = harness
        .spawn(shell("echo out; exit 3", Stdio::Collect(100)))
        .unwrap();
    assert_eq!(harness.until_exit(id), (3, 0));
    assert_eq!(harness.collected(id), b"out\n");
    assert_eq!(harness.port.wait_started(id), Err(3), "it is forgotten");
}

#[test]
fn a_signal_ends_a_child_and_is_reported() {
    let mut harness = harness();
    let id = harness
        .spawn(shell("exec sleep 10", Stdio::Ignore))
        .unwrap();
    assert_eq!(harness.port.kill(id, 15), Ok(()));
    assert_eq!(harness.until_exit(id), (0, 15));
}

#[test]
fn what_cannot_be_started_fails_with_its_errno() {
    let mut harness = harness();
    let request = Request {
        file: b"redline-no-such-program\0".to_vec(),
        args: b"x\0".to_vec(),
        ..Request::default()
    };
    let id = harness.spawn(request).unwrap();
    assert_eq!(harness.port.wait_started(id), Err(2));
    harness.until(|event| *event == Event::Failed { id, error: 2 });
}

#[test]
fn a_folder_that_is_a_file_is_refused_at_once() {
    let harness = harness();
    let request = Request {
        cwd: Some(b"/etc/passwd\0".to_vec()),
        ..shell("true", Stdio::Ignore)
    };
    assert_eq!(harness.spawn(request), Err(20));
}

#[test]
fn a_descriptor_that_is_not_open_is_refused_at_once() {
    let harness = harness();
    assert_eq!(
        harness.spawn(shell("true", Stdio::Inherit(1 << 20))),
        Err(9)
    );
}

#[test]
fn a_flowing_stream_stops_at_its_credit_and_goes_on_when_asked() {
    let mut harness = harness();
    let size = 3 * FLOW_CREDIT;
    let script = format!("head -c {size} /dev/zero");
    let id = harness.spawn(shell(&script, Stdio::Pipe)).unwrap();
    let mut got = 0;
    harness.port.flow(id, 1);
    while got < size {
        let mut credit = FLOW_CREDIT;
        while credit > 0 && got < size {
            harness.until(|event| matches!(event, Event::Data { .. }));
            for event in std::mem::take(&mut harness.seen) {
                match event {
                    Event::Data { bytes, .. } => {
                        got += bytes.len();
                        credit -= bytes.len();
                    }
                    other => harness.seen.push(other),
                }
            }
        }
        harness.port.flow(id, 1);
    }
    assert_eq!(got, size);
    assert_eq!(harness.until_exit(id), (0, 0));
}

#[test]
fn more_than_the_limit_stops_the_collecting() {
    let mut harness = harness();
    let id = harness
        .spawn(shell("exec yes", Stdio::Collect(10)))
        .unwrap();
    harness.until(|event| matches!(event, Event::Overflowed { bytes, .. } if bytes.len() > 10));
    harness.port.close_stream(id, 1);
    harness.port.kill(id, 9).unwrap();
    harness.until_exit(id);
}

#[test]
fn a_stream_given_away_is_a_connected_socket() {
    let mut harness = harness();
    let request = Request {
        stdio: vec![Stdio::Pipe, Stdio::Pipe, Stdio::Ignore],
        ..shell("exec cat", Stdio::Ignore)
    };
    let id = harness.spawn(request).unwrap();
    let mut stdin = UnixStream::from(harness.port.take(id, 0).fd.unwrap());
    let mut stdout = UnixStream::from(harness.port.take(id, 1).fd.unwrap());
    stdin.write_all(b"through").unwrap();
    drop(stdin);
    let mut text = String::new();
    stdout.read_to_string(&mut text).unwrap();
    assert_eq!(text, "through");
    harness.until_exit(id);
}

/// Starts a child that ends at once and leaves its output to a process of its own, waits for its exit, and then until the engine has
/// forgotten it, as its output has ended. That end waits to be taken.
fn over(
    harness: &mut Harness,
    script: &str,
    stdout: Stdio,
    after_exit: impl Fn(&Port, u64),
) -> u64 {
    let (near, far) = UnixStream::pair().unwrap();
    let request = Request {
        stdio: vec![Stdio::Inherit(far.as_raw_fd()), stdout, Stdio::Ignore],
        ..shell(&format!("exec 3<&0; (read line <&3; {script}) &"), stdout)
    };
    let id = harness.spawn(request).unwrap();
    assert_eq!(harness.until_exit(id), (0, 0));
    after_exit(&harness.port, id);
    (&near).write_all(b"go\n").unwrap();
    while harness.port.wait_started(id) != Err(libc::ESRCH) {
        let wake = harness.woken.recv_timeout(Duration::from_secs(20));
        wake.expect("it is forgotten");
    }
    id
}

#[test]
fn what_waits_of_a_child_that_is_over_can_be_taken() {
    let mut harness = harness();
    let script = "echo later";
    let nothing = |_: &Port, _| ();
    let id = over(&mut harness, script, Stdio::Collect(100), nothing);
    let uncollected = harness.port.uncollect(id, 1, false);
    assert_eq!(uncollected, (b"later\n".to_vec(), true));
    assert!(harness.port.next_event().is_none());

    let id = over(&mut harness, script, Stdio::Collect(100), nothing);
    let mut stdout = UnixStream::from(harness.port.take(id, 1).fd.unwrap());
    let mut text = String::new();
    stdout.read_to_string(&mut text).unwrap();
    assert_eq!(text, "later\n");
    assert!(harness.port.next_event().is_none());

    let drain = |port: &Port, id| drop(port.drain(id));
    let id = over(&mut harness, script, Stdio::Pipe, drain);
    assert_eq!(harness.port.stop_draining(id, 1), 6);
    let end = Event::Drained {
        id,
        stream: 1,
        bytes: 0,
    };
    assert_eq!(harness.port.next_event(), Some(end));
}

#[test]
fn descriptors_are_copied_at_the_call() {
    let mut harness = harness();
    let (near, far) = UnixStream::pair().unwrap();
    let id = harness
        .spawn(shell("echo copied", Stdio::Inherit(far.as_raw_fd())))
        .unwrap();
    drop(far);
    let mut text = String::new();
    (&near).read_to_string(&mut text).unwrap();
    assert_eq!(text, "copied\n");
    harness.until_exit(id);
}

#[test]
fn many_children_leave_no_descriptor_and_no_zombie() {
    let mut harness = harness();
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = count();
    for _ in 0..20 {
        let ids: Vec<u64> = (0..25)
            .map(|_| harness.spawn(shell("echo x", Stdio::Collect(10))).unwrap())
            .collect();
        for id in ids {
            assert_eq!(harness.until_exit(id), (0, 0));
        }
        harness.seen.clear();
    }
    // Other tests run at the same time and have a few of their own.
    assert!(count() < before + 100, "{before} then {}", count());
}

#[test]
fn a_closed_port_reaps_its_children() {
    let harness = harness();
    let id = harness.spawn(shell("exec sleep 0.1", Stdio::Pipe)).unwrap();
    let pid = harness.port.wait_started(id).unwrap();
    drop(harness);
    for _ in 0..200 {
        if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{pid} is still there");
}

#[test]
fn a_wait_status_that_somebody_else_took_is_never_exit_code_0() {
    let mut harness = harness();
    for _ in 0..50 {
        let id = harness.spawn(shell("exit 7", Stdio::Ignore)).unwrap();
        let pid = harness.port.wait_started(id).unwrap();
        // SAFETY: no memory is passed.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
        let index = harness.until(|event| {
            matches!(event, Event::Exited { id: other, .. } | Event::Lost { id: other, .. } if *other == id)
        });
        match harness.seen[index] {
            Event::Exited { code, .. } => assert_eq!(code, 7),
            Event::Lost { error, .. } => assert_eq!(error, libc::ECHILD),
            _ => unreachable!(),
        }
        harness.port.acknowledge(id);
    }
}

#[test]
fn a_child_of_another_user_leaves_this_process_dumpable() {
    // SAFETY: no memory is passed.
    let (user, before) = unsafe { (libc::geteuid(), libc::prctl(libc::PR_GET_DUMPABLE)) };
    if user != 0 {
        return;
    }
    let mut harness = harness();
    let request = Request {
        uid: Some(65534),
        gid: Some(65534),
        ..shell("true", Stdio::Ignore)
    };
    let id = harness.spawn(request).unwrap();
    assert_eq!(harness.until_exit(id), (0, 0));
    // SAFETY: no memory is passed.
    assert_eq!(unsafe { libc::prctl(libc::PR_GET_DUMPABLE) }, before);
}
