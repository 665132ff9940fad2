//! Memory of rings that JavaScript has made, held so that it stays in place.

use std::ptr;

use napi::bindgen_prelude::{JsValue, Unknown};
use napi::{Error, Result, sys};
use telemetry_ring::Reader;

/// A reference that keeps the memory of a ring alive.
pub(crate) struct HeldRing {
    reference: sys::napi_ref,
}

impl HeldRing {
    /// Takes a ring. `name` is that of the argument.
    ///
    /// # Safety
    /// `env` is the current environment. The reader is dropped before the ring is released.
    pub unsafe fn take(
        env: sys::napi_env,
        array: &Unknown<'_>,
        name: &str,
    ) -> Result<(Self, Reader)> {
        let mut kind = -1;
        let mut length = 0;
        let mut data = ptr::null_mut();
        let mut reference = ptr::null_mut();
        // SAFETY: all out-pointers live through their calls, and the value is of the current scope.
        let is_array = unsafe {
            sys::napi_get_typedarray_info(
                env,
                array.raw(),
                &mut kind,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            ) == sys::Status::napi_ok
                && kind == sys::TypedarrayType::uint32_array
                && !data.is_null()
        };
        if !is_array {
            return Err(Error::from_reason(format!(
                "`{name}` must be a Uint32Array"
            )));
        }
        // SAFETY: the array is held by the reference below, and the package never transfers or detaches its memory.
        let Some(reader) = (unsafe { Reader::new(data.cast(), length) }) else {
            return Err(Error::from_reason(format!(
                "`{name}` is not a ring of this version: it has {length} words"
            )));
        };
        // SAFETY: as above.
        let status = unsafe { sys::napi_create_reference(env, array.raw(), 1, &mut reference) };
        if status != sys::Status::napi_ok {
            return Err(Error::from_reason(format!("`{name}` cannot be held")));
        }
        Ok((Self { reference }, reader))
    }

    /// # Safety
    /// On the thread of the environment in which it was taken, and the reader has been dropped.
    pub unsafe fn release(self, env: sys::napi_env) {
        // SAFETY: forwarded; a reference is deleted once.
        unsafe { sys::napi_delete_reference(env, self.reference) };
    }
}
