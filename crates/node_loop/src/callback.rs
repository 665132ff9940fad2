//! Calls into JavaScript from the loop.

use std::ptr;

use napi::sys;

/// A JavaScript function and its `this`.
#[derive(Clone, Copy)]
pub struct Callback {
    env: sys::napi_env,
    function: sys::napi_ref,
    /// An object of its own: Node looks up the `domain` of a receiver.
    receiver: sys::napi_ref,
}

/// The arguments of one call, at most `N`.
pub struct Arguments<const N: usize> {
    env: sys::napi_env,
    values: [sys::napi_value; N],
    count: usize,
}

impl<const N: usize> Arguments<N> {
    /// The environment of the call, for values created elsewhere.
    #[must_use]
    pub fn env(&self) -> sys::napi_env {
        self.env
    }

    /// Appends a value of this call's scope.
    pub fn push(&mut self, value: sys::napi_value) {
        self.values[self.count] = value;
        self.count += 1;
    }

    /// Appends a number.
    pub fn push_i32(&mut self, number: i32) {
        let mut value = ptr::null_mut();
        // SAFETY: arguments are made on the environment's thread, inside the handle scope of the call.
        unsafe { sys::napi_create_int32(self.env, number, &mut value) };
        self.push(value);
    }

    /// Appends a number.
    pub fn push_u32(&mut self, number: u32) {
        let mut value = ptr::null_mut();
        // SAFETY: as above.
        unsafe { sys::napi_create_uint32(self.env, number, &mut value) };
        self.push(value);
    }

    /// Appends a number.
    pub fn push_f64(&mut self, number: f64) {
        let mut value = ptr::null_mut();
        // SAFETY: as above.
        unsafe { sys::napi_create_double(self.env, number, &mut value) };
        self.push(value);
    }
}

impl Callback {
    /// # Safety
    /// `env` is the current environment, and `function` a function of its current scope.
    #[must_use]
    pub unsafe fn new(env: sys::napi_env, function: sys::napi_value) -> Self {
        let mut this = Self {
            env,
            function: ptr::null_mut(),
            receiver: ptr::null_mut(),
        };
        // SAFETY: forwarded; the object lives in the scope of this call, and then by its reference.
        unsafe {
            sys::napi_create_reference(env, function, 1, &mut this.function);
            let mut object = ptr::null_mut();
            sys::napi_create_object(env, &mut object);
            sys::napi_create_reference(env, object, 1, &mut this.receiver);
        }
        this
    }

    /// Calls the function in a callback scope of its own: ticks and promises run after it. Returns the value that `read` makes of
    /// the result, or `None` if the function threw; the exception becomes an uncaught one.
    ///
    /// # Safety
    /// On the environment's thread, outside of any JavaScript, with the environment alive and the callback not deleted.
    pub unsafe fn call<const N: usize, T>(
        self,
        fill: impl FnOnce(&mut Arguments<N>),
        read: impl FnOnce(sys::napi_env, sys::napi_value) -> T,
    ) -> Option<T> {
        let Self {
            env,
            function,
            receiver,
        } = self;
        // SAFETY: every handle made here lives in the scope opened here; both references are live ones of `env`.
        unsafe {
            let mut scope = ptr::null_mut();
            sys::napi_open_handle_scope(env, &mut scope);
            let mut callee = ptr::null_mut();
            sys::napi_get_reference_value(env, function, &mut callee);
            let mut this = ptr::null_mut();
            sys::napi_get_reference_value(env, receiver, &mut this);
            let mut arguments = Arguments {
                env,
                values: [ptr::null_mut(); N],
                count: 0,
            };
            fill(&mut arguments);
            let mut result = ptr::null_mut();
            let status = sys::napi_make_callback(
                env,
                ptr::null_mut(),
                this,
                callee,
                arguments.count,
                arguments.values.as_ptr(),
                &mut result,
            );
            if status == sys::Status::napi_pending_exception {
                let mut error = ptr::null_mut();
                sys::napi_get_and_clear_last_exception(env, &mut error);
                sys::napi_fatal_exception(env, error);
            }
            let result = (status == sys::Status::napi_ok).then(|| read(env, result));
            sys::napi_close_handle_scope(env, scope);
            result
        }
    }

    /// # Safety
    /// On the environment's thread, once, with no calls afterwards.
    pub unsafe fn delete(self) {
        // SAFETY: forwarded.
        unsafe {
            sys::napi_delete_reference(self.env, self.function);
            sys::napi_delete_reference(self.env, self.receiver);
        }
    }
}
