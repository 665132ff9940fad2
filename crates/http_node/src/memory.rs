//! Memory that JavaScript allocated for the engine, held so that it stays in place.

use std::ffi::CStr;
use std::ptr;

use http_engine::Memory;
use napi::bindgen_prelude::{JsValue, Object};
use napi::{Error, Result, sys};
use node_loop::{Element, HeldArray};

/// The arrays of an engine.
pub(crate) struct HeldMemory {
    arrays: Vec<HeldArray>,
}

impl HeldMemory {
    /// Takes `records`, `input`, `commands`, `output` and `pending` from an object.
    ///
    /// # Safety
    /// `env` is the current environment.
    pub unsafe fn take(env: sys::napi_env, object: &Object<'_>) -> Result<(Self, Memory)> {
        let mut held = Self { arrays: Vec::new() };
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

    unsafe fn array<T: Element>(
        &mut self,
        env: sys::napi_env,
        object: &Object<'_>,
        name: &CStr,
    ) -> Result<(*mut T, usize)> {
        let mut value = ptr::null_mut();
        // SAFETY: the out-pointer lives through its call, and the values are of the current scope.
        let taken = unsafe {
            let status = sys::napi_get_named_property(env, object.raw(), name.as_ptr(), &mut value);
            (status == sys::Status::napi_ok)
                .then(|| HeldArray::take(env, value))
                .flatten()
        };
        let Some((array, data, length)) = taken else {
            let name = name.to_string_lossy();
            return Err(Error::from_reason(format!(
                "`{name}` must be a {} with memory",
                T::CLASS
            )));
        };
        self.arrays.push(array);
        Ok((data, length))
    }

    /// # Safety
    /// `env` is the environment the arrays were taken in, and the engine has been dropped.
    pub unsafe fn release(self, env: sys::napi_env) {
        for array in self.arrays {
            // SAFETY: forwarded.
            unsafe { array.release(env) };
        }
    }
}
