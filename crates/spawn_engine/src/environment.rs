//! The environment of a child, laid out once for all children that share it.

use std::fmt;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use libc::c_char;

/// The path glibc searches when PATH is missing.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";
const PATH: &[u8] = b"PATH=";

/// `KEY=value` strings.
#[derive(Default)]
pub struct Environment {
    block: Vec<u8>,
    layout: OnceLock<Layout>,
}

struct Layout {
    /// Null-terminated, as `execve` takes it.
    table: Vec<*const c_char>,
    /// The range of PATH's value.
    path: Option<Range<usize>>,
}

// SAFETY: the pointers refer to the block beside them, which nothing changes or moves.
unsafe impl Send for Layout {}
// SAFETY: as above.
unsafe impl Sync for Layout {}

impl Environment {
    /// Creates an environment from `KEY=value` strings, each NUL-terminated, one after the other.
    #[must_use]
    pub fn new(block: Vec<u8>) -> Self {
        Self {
            block,
            layout: OnceLock::new(),
        }
    }

    /// The strings as given.
    #[must_use]
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    pub(crate) fn table(&self) -> &[*const c_char] {
        &self.layout().table
    }

    /// Returns the search path for programs: the child's own PATH decides, as with execvp after `environ` was set.
    pub(crate) fn path(&self) -> &[u8] {
        match &self.layout().path {
            Some(range) => &self.block[range.clone()],
            None => DEFAULT_PATH,
        }
    }

    fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout {
            table: pointers(&self.block),
            path: path_in(&self.block),
        })
    }
}

impl fmt::Debug for Environment {
    /// Omits the values, which are often secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Environment({} bytes)", self.block.len())
    }
}

/// Builds a null-terminated table of NUL-terminated strings.
pub(crate) fn pointers(block: &[u8]) -> Vec<*const c_char> {
    let strings = block.split_inclusive(|&byte| byte == 0);
    let mut table: Vec<*const c_char> = strings.map(|text| text.as_ptr().cast()).collect();
    table.push(ptr::null());
    table
}

fn path_in(block: &[u8]) -> Option<Range<usize>> {
    let mut start = 0;
    for string in block.split(|&byte| byte == 0) {
        let end = start + string.len();
        if string.starts_with(PATH) {
            return Some(start + PATH.len()..end);
        }
        start = end + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_path_counts() {
        let environment = Environment::new(b"XPATH=/x\0PATH=/a:/b\0PATH=/c\0".to_vec());
        assert_eq!(environment.path(), b"/a:/b");
        assert_eq!(environment.table().len(), 4);
        assert!(environment.table()[3].is_null());
    }

    #[test]
    fn none_at_all_has_the_default_path() {
        let environment = Environment::default();
        assert_eq!(environment.path(), DEFAULT_PATH);
        assert!(environment.table()[0].is_null());
    }
}
