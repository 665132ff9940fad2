//! The environment of this process, as the block that a child receives.
//!
//! `environ` belongs to no thread: workers with `SHARE_ENV` change it through `process.env` while this thread reads, and setenv
//! frees the table that it outgrows. Node guards it with one mutex of its own, and so does this module. If that mutex cannot be
//! found, the strings come from `process.env`.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr;
use std::sync::{Arc, OnceLock};

use napi_derive::napi;
use spawn_engine::Environment;

unsafe extern "C" {
    static environ: *const *const c_char;
    fn uv_mutex_lock(mutex: *mut c_void);
    fn uv_mutex_unlock(mutex: *mut c_void);
}

/// `node::per_process::env_var_mutex`, a `uv_mutex_t` that every access of `process.env` to the environment holds.
const MUTEX: &CStr = c"_ZN4node11per_process13env_var_mutexE";
/// Flag of `dladdr1`: requests the symbol's entry in the symbol table.
const RTLD_DL_SYMENT: c_int = 1;
const STT_OBJECT: u8 = 1;

thread_local! {
    static LAST: RefCell<Arc<Environment>> = RefCell::default();
}

/// Node's mutex, while it is held.
struct Locked {
    mutex: *mut c_void,
}

impl Locked {
    /// Returns `None` if Node does not export its mutex.
    fn take() -> Option<Self> {
        static FOUND: OnceLock<Option<usize>> = OnceLock::new();
        let mutex = (*FOUND.get_or_init(find_mutex))? as *mut c_void;
        // SAFETY: a `uv_mutex_t` that lives as long as the process; nothing calls into Node while it is held here.
        unsafe { uv_mutex_lock(mutex) };
        Some(Self { mutex })
    }

    /// `KEY=value` strings, each NUL-terminated, valid while the lock is held.
    fn strings(&self) -> Strings<'_> {
        Strings {
            // SAFETY: a plain load; writers hold the lock.
            entry: unsafe { environ },
            lock: PhantomData,
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: held by this thread.
        unsafe { uv_mutex_unlock(self.mutex) };
    }
}

struct Strings<'a> {
    entry: *const *const c_char,
    lock: PhantomData<&'a Locked>,
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        // SAFETY: `environ` is null or a null-terminated table of C strings. Changes through Node hold the lock that this
        // borrows. An addon that calls setenv on a thread of its own races with Node's reading, too.
        unsafe {
            if self.entry.is_null() || (*self.entry).is_null() {
                return None;
            }
            let string = CStr::from_ptr(*self.entry).to_bytes_with_nul();
            self.entry = self.entry.add(1);
            Some(string)
        }
    }
}

/// Returns the mutex's address if the symbol is an object of a mutex's size: a Node whose lock has become another type fails this
/// check. Without `dladdr1`, as with musl, nothing can be checked, and the mutex counts as not found.
fn find_mutex() -> Option<usize> {
    /// `Elf64_Sym`.
    #[repr(C)]
    struct Symbol {
        name: u32,
        info: u8,
        other: u8,
        section: u16,
        value: u64,
        size: u64,
    }
    type Dladdr1 =
        unsafe extern "C" fn(*const c_void, *mut libc::Dl_info, *mut *const Symbol, c_int) -> c_int;
    if !cfg!(target_pointer_width = "64") {
        return None;
    }
    // SAFETY: the names are C strings; `dladdr1` has that signature wherever it exists and fills the structures passed to it, and
    // the entry that it returns lies in a loaded object that is never unloaded: the program itself, or Node as a library.
    unsafe {
        let mutex = libc::dlsym(libc::RTLD_DEFAULT, MUTEX.as_ptr());
        let dladdr1 = libc::dlsym(libc::RTLD_DEFAULT, c"dladdr1".as_ptr());
        if mutex.is_null() || dladdr1.is_null() {
            return None;
        }
        let dladdr1: Dladdr1 = std::mem::transmute(dladdr1);
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut symbol: *const Symbol = ptr::null();
        if dladdr1(mutex, &raw mut info, &raw mut symbol, RTLD_DL_SYMENT) == 0
            || symbol.is_null()
            || info.dli_saddr != mutex
        {
            return None;
        }
        let is_mutex = (*symbol).info & 0xf == STT_OBJECT
            && (*symbol).size == size_of::<libc::pthread_mutex_t>() as u64;
        is_mutex.then_some(mutex as usize)
    }
}

/// Returns the current environment. The block is rebuilt only when a string has changed. Empty if the environment cannot be read
/// safely: JavaScript does not use it in that case, see [`real_environment_variable`].
pub(crate) fn snapshot() -> Arc<Environment> {
    LAST.with_borrow_mut(|last| {
        if let Some(locked) = Locked::take()
            && !is_current(last.block(), locked.strings())
        {
            let block = locked.strings().flatten().copied().collect();
            *last = Arc::new(Environment::new(block));
        }
        Arc::clone(last)
    })
}

fn is_current(block: &[u8], strings: Strings<'_>) -> bool {
    let mut rest = block;
    for string in strings {
        let Some(after) = rest.strip_prefix(string) else {
            return false;
        };
        rest = after;
    }
    rest.is_empty()
}

/// Returns a variable of the process's own environment, even if `process.env` has been replaced. `None` also if the environment
/// cannot be read safely.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn real_environment_variable(name: String) -> Option<String> {
    let locked = Locked::take()?;
    let value = locked
        .strings()
        .find_map(|string| string.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value[..value.len() - 1].to_vec()).ok()
}
