//! A typed array of JavaScript whose memory native code uses.

use std::ptr;

use napi::sys;

/// The elements that an array has.
pub trait Element {
    /// The kind of its arrays.
    const ARRAY: sys::napi_typedarray_type;
    /// Their class in JavaScript.
    const CLASS: &str;
}

impl Element for u8 {
    const ARRAY: sys::napi_typedarray_type = sys::TypedarrayType::uint8_array;
    const CLASS: &str = "Uint8Array";
}

impl Element for u32 {
    const ARRAY: sys::napi_typedarray_type = sys::TypedarrayType::uint32_array;
    const CLASS: &str = "Uint32Array";
}

/// A reference that keeps an array, and so its memory, where it is.
pub struct HeldArray {
    reference: sys::napi_ref,
}

impl HeldArray {
    /// Holds an array, and returns its memory and its number of elements; `None` if the value is anything else, or is empty.
    ///
    /// # Safety
    /// `env` is the current environment, and `value` one of its current scope. The memory stays as long as the array is held,
    /// unless JavaScript detaches it.
    pub unsafe fn take<T: Element>(
        env: sys::napi_env,
        value: sys::napi_value,
    ) -> Option<(Self, *mut T, usize)> {
        let mut kind = -1;
        let mut length = 0;
        let mut data = ptr::null_mut();
        let mut reference = ptr::null_mut();
        // SAFETY: all out-pointers live through their calls, and the value is of the current scope.
        let is_held = unsafe {
            sys::napi_get_typedarray_info(
                env,
                value,
                &mut kind,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            ) == sys::Status::napi_ok
                && kind == T::ARRAY
                && !data.is_null()
                && sys::napi_create_reference(env, value, 1, &mut reference) == sys::Status::napi_ok
        };
        is_held.then(|| (Self { reference }, data.cast(), length))
    }

    /// # Safety
    /// `env` is the environment in which the array was taken, on its thread, and nothing uses the memory any more.
    pub unsafe fn release(self, env: sys::napi_env) {
        // SAFETY: forwarded; a reference is deleted once.
        unsafe { sys::napi_delete_reference(env, self.reference) };
    }
}
