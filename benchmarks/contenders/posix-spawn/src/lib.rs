//! posix_spawn on the calling thread, as libuv's main branch has it: for a handle that spawn.js puts under Node's own
//! ChildProcess, and for a child that is waited for.

use std::ffi::{CString, c_char, c_int};
use std::mem::MaybeUninit;
use std::ptr;

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

const IGNORE: i32 = -1;
const PIPE: i32 = -2;

/// A child that was started, or not.
#[napi(object)]
pub struct Started {
    /// The process, or a negative error number.
    pub pid: i32,
    /// By entry of `stdio`: our end of its pipe, -1 for none.
    pub near_ends: Vec<i32>,
}

/// A child that has ended.
#[napi(object)]
pub struct Ended {
    pub pid: i32,
    pub code: i32,
    pub signal: i32,
}

/// A child that was waited for.
#[napi(object)]
pub struct Ran {
    /// The process, or a negative error number.
    pub pid: i32,
    pub code: i32,
    pub signal: i32,
    pub stdout: Buffer,
    pub stderr: Buffer,
}

/// Starts a program; `stdio` has a descriptor, -1 ignore or -2 pipe per entry.
#[napi]
pub fn start(
    file: String,
    args: Vec<String>,
    env: Vec<String>,
    cwd: Option<String>,
    stdio: Vec<i32>,
) -> Started {
    let (near_ends, far_ends): (Vec<_>, Vec<_>) = stdio.iter().map(|&entry| open(entry)).unzip();
    let pid = spawn(&file, &args, &env, cwd, &far_ends);
    for (&far, &entry) in far_ends.iter().zip(&stdio) {
        if entry < 0 {
            // SAFETY: opened by `open`, and not used again.
            unsafe { libc::close(far) };
        }
    }
    Started {
        pid: pid.unwrap_or_else(|error| -error),
        near_ends,
    }
}

/// Those of `pids` that have ended: libuv asks for each of its children when SIGCHLD comes.
#[napi]
pub fn reap(pids: Vec<i32>) -> Vec<Ended> {
    pids.into_iter()
        .filter_map(|pid| {
            let mut status = 0;
            // SAFETY: `status` outlives the call.
            (unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } == pid)
                .then(|| ended(pid, status))
        })
        .collect()
}

/// Runs a program with three pipes to its end, as spawnSync does: stdin ends at once, the others are read.
#[napi]
pub fn run(file: String, args: Vec<String>, env: Vec<String>) -> Ran {
    let Started { pid, near_ends } = start(file, args, env, None, vec![PIPE; 3]);
    // SAFETY: opened by `start`, and not used again.
    unsafe { libc::close(near_ends[0]) };
    let [stdout, stderr] = read_to_end([near_ends[1], near_ends[2]]);
    let mut status = 0;
    if pid > 0 {
        // SAFETY: `status` outlives the call.
        unsafe { libc::waitpid(pid, &mut status, 0) };
    }
    let Ended { code, signal, .. } = ended(pid, status);
    Ran {
        pid,
        code,
        signal,
        stdout: stdout.into(),
        stderr: stderr.into(),
    }
}

fn ended(pid: i32, status: i32) -> Ended {
    Ended {
        pid,
        code: libc::WEXITSTATUS(status),
        signal: if libc::WIFSIGNALED(status) {
            libc::WTERMSIG(status)
        } else {
            0
        },
    }
}

/// Reads both until both have ended, and closes them.
fn read_to_end(fds: [i32; 2]) -> [Vec<u8>; 2] {
    let mut outputs = [Vec::new(), Vec::new()];
    let mut block = vec![0_u8; 64 * 1024];
    let events = libc::POLLIN;
    let mut polled = fds.map(|fd| libc::pollfd {
        fd,
        events,
        revents: 0,
    });
    while polled.iter().any(|one| one.fd >= 0) {
        // SAFETY: `polled` has two entries; poll leaves out those whose descriptor is negative.
        unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
        for (one, output) in polled.iter_mut().zip(&mut outputs) {
            if one.fd < 0 || one.revents == 0 {
                continue;
            }
            // SAFETY: `block` is as long as it says.
            let count = unsafe { libc::read(one.fd, block.as_mut_ptr().cast(), block.len()) };
            if count > 0 {
                output.extend_from_slice(&block[..count.cast_unsigned()]);
                continue;
            }
            // SAFETY: this entry's own descriptor, which is not used again.
            unsafe { libc::close(one.fd) };
            one.fd = -1;
        }
    }
    outputs
}

/// Both ends of an entry: ours, and the child's.
fn open(entry: i32) -> (i32, i32) {
    match entry {
        PIPE => {
            let mut fds = [-1; 2];
            let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
            // SAFETY: `fds` has room for both.
            unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) };
            (fds[0], fds[1])
        }
        IGNORE => {
            // SAFETY: a constant path.
            let fd = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
            (-1, fd)
        }
        fd => (-1, fd),
    }
}

fn spawn(
    file: &str,
    args: &[String],
    env: &[String],
    cwd: Option<String>,
    far_ends: &[i32],
) -> Result<i32, i32> {
    let file = text(file)?;
    let args: Vec<CString> = args.iter().map(|arg| text(arg)).collect::<Result<_, _>>()?;
    let env: Vec<CString> = env
        .iter()
        .map(|pair| text(pair))
        .collect::<Result<_, _>>()?;
    let cwd = cwd.map(|cwd| text(&cwd)).transpose()?;
    let mut actions = MaybeUninit::uninit();
    let mut attributes = MaybeUninit::uninit();
    let mut pid = 0;
    // SAFETY: both objects are initialised first and destroyed last; every string and table outlives the calls.
    let error = unsafe {
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        libc::posix_spawnattr_init(attributes.as_mut_ptr());
        let (actions, attributes) = (actions.as_mut_ptr(), attributes.as_mut_ptr());
        for (target, &source) in far_ends.iter().enumerate() {
            libc::posix_spawn_file_actions_adddup2(actions, source, target as c_int);
        }
        if let Some(cwd) = &cwd {
            libc::posix_spawn_file_actions_addchdir_np(actions, cwd.as_ptr());
        }
        let (mut all, mut none) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        libc::sigfillset(all.as_mut_ptr());
        libc::sigemptyset(none.as_mut_ptr());
        libc::posix_spawnattr_setsigdefault(attributes, all.as_ptr());
        libc::posix_spawnattr_setsigmask(attributes, none.as_ptr());
        let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        libc::posix_spawnattr_setflags(attributes, flags as _);
        let error = libc::posix_spawnp(
            &mut pid,
            file.as_ptr(),
            actions,
            attributes,
            table(&args).as_ptr(),
            table(&env).as_ptr(),
        );
        libc::posix_spawnattr_destroy(attributes);
        libc::posix_spawn_file_actions_destroy(actions);
        error
    };
    if error == 0 { Ok(pid) } else { Err(error) }
}

fn text(text: &str) -> Result<CString, i32> {
    CString::new(text).map_err(|_| libc::EINVAL)
}

fn table(strings: &[CString]) -> Vec<*mut c_char> {
    let pointers = strings.iter().map(|text| text.as_ptr().cast_mut());
    pointers.chain([ptr::null_mut()]).collect()
}
