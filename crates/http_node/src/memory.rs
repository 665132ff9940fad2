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

    unsafe fn array<T>(
        &mut self,
        env: sys::napi_env,
        object: &Object<'_>,
        name: &std::ffi::CStr,
    ) -> Result<(*mut T, usize)> {
        let wanted = if size_of::<T>() == 4 {
            sys::TypedarrayType::uint32_array
        } else {
            sys::TypedarrayType::uint8_array
        };
        let mut value = ptr::null_mut();
        let mut kind = -1;
        let mut length = 0;
        let mut data = ptr::null_mut();
        let mut reference = ptr::null_mut();
        // SAFETY: all out-pointers live through their calls, and the values are of the current scope.
        let is_good = unsafe {
            sys::napi_get_named_property(env, object.raw(), name.as_ptr(), &mut value)
                == sys::Status::napi_ok
                && sys::napi_get_typedarray_info(
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
        if !is_good {
            let name = name.to_string_lossy();
            return Err(Error::from_reason(format!(
                "`{name}` is no array of the right kind"
            )));
        }
        self.references.push(reference);
        Ok((data.cast(), length))
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
