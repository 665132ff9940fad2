//! Memory that JavaScript allocated for the engine, held so that it stays in place.

use std::ptr;

use http_engine::Memory;
use napi::bindgen_prelude::{JsValue, Object};
use napi::{Error, Result, sys};

/// References that keep the arrays alive.
pub(crate) struct HeldMemory {
    references: Vec<sys::napi_ref>,
}

impl HeldMemory {
    /// Takes `records`, `input`, `commands`, `output` and `pending` from an object.
    ///
    /// # Safety
    /// `env` is the current environment.
    pub unsafe fn take(env: sys::napi_env, object: &Object<'_>) -> Result<(Self, Memory)> {
        let mut held = Self {
            references: Vec::new(),
        };
        // SAFETY: forwarded.
        let memory = unsafe {
            Memory {
                records: held.array(env, object, c"records")?,
                input: held.array(env, object, c"input")?,
                commands: held.array(env, object, c"commands")?,
                output: {
                    let (pointer, length) = held.array::<u8>(env, object, c"output")?;
                    (pointer.cast_const(), length)
                },
                pending: held.array(env, object, c"pending")?,
            }
        };
        Ok((held, memory))
    }

    /// Takes a telemetry ring: its words.
    ///
    /// # Safety
    /// `env` is the current environment.
    pub unsafe fn take_ring(
        env: sys::napi_env,
        ring: &Object<'_>,
    ) -> Result<(Self, (*mut u32, usize))> {
        let mut held = Self {
            references: Vec::new(),
        };
        // SAFETY: forwarded.
        let words = unsafe { held.value(env, ring.raw()) };
        let words = words.ok_or_else(|| Error::from_reason("the ring is no Uint32Array"))?;
        Ok((held, words))
    }

    unsafe fn array<T>(
        &mut self,
        env: sys::napi_env,
        object: &Object<'_>,
        name: &std::ffi::CStr,
    ) -> Result<(*mut T, usize)> {
        let mut value = ptr::null_mut();
        // SAFETY: the out-pointer lives through its call, and the values are of the current scope.
        let array = unsafe {
            let status = sys::napi_get_named_property(env, object.raw(), name.as_ptr(), &mut value);
            (status == sys::Status::napi_ok)
                .then(|| self.value(env, value))
                .flatten()
        };
        array.ok_or_else(|| {
            let name = name.to_string_lossy();
            Error::from_reason(format!("`{name}` is no array of the right kind"))
        })
    }

    /// Takes the memory of an array; `None` if it is of another kind.
    unsafe fn value<T>(
        &mut self,
        env: sys::napi_env,
        value: sys::napi_value,
    ) -> Option<(*mut T, usize)> {
        let wanted = if size_of::<T>() == 4 {
            sys::TypedarrayType::uint32_array
        } else {
            sys::TypedarrayType::uint8_array
        };
        let mut kind = -1;
        let mut length = 0;
        let mut data = ptr::null_mut();
        let mut reference = ptr::null_mut();
        // SAFETY: all out-pointers live through their calls, and the value is of the current scope.
        let is_good = unsafe {
            sys::napi_get_typedarray_info(
                env,
                value,
                &mut kind,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            ) == sys::Status::napi_ok
                && kind == wanted
                && !data.is_null()
                && sys::napi_create_reference(env, value, 1, &mut reference) == sys::Status::napi_ok
        };
        is_good.then(|| {
            self.references.push(reference);
            (data.cast(), length)
        })
    }

    /// # Safety
    /// `env` is the environment the arrays were taken in, and the engine has been dropped.
    pub unsafe fn release(self, env: sys::napi_env) {
        for reference in self.references {
            // SAFETY: forwarded; each reference is deleted once.
            unsafe { sys::napi_delete_reference(env, reference) };
        }
    }
}
