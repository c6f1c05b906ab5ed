//! Functions for events.

use crate::event::Event;
use crate::fault::{Code, Fault, Result, outcome};
use crate::sys::{Handle, args::*};
use std::ffi::c_void;
use std::sync::Arc;

pub fn destroy(a: &mut EventDestroy) -> Result {
    drop(a.event.take());
    Ok(())
}

pub fn is_ready(a: &mut EventIsReady) -> Result {
    a.is_ready = a.event.get()?.outcome().is_some();
    Ok(())
}

pub fn error(a: &mut EventError) -> Result {
    let early = || Fault::new(Code::FailedPrecondition, "the event is not ready");
    a.event.get()?.outcome().ok_or_else(early)?
}

pub fn wait(a: &mut EventAwait) -> Result {
    a.event.get()?.wait()
}

/// The argument of the caller's callback.
struct Argument(*mut c_void);

// SAFETY: the caller guarantees that its callback may be called on any thread.
unsafe impl Send for Argument {}

impl Argument {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

pub fn on_ready(a: &mut EventOnReady) -> Result {
    let callback = a.callback.ok_or_else(|| Fault::invalid("the callback is a null pointer"))?;
    let argument = Argument(a.user_arg);
    let event = a.event.get()?;
    // JAX calls this function when it begins to wait for an array.
    event.run_if_not_started();
    // SAFETY: the caller guarantees that the callback has this type and accepts this argument. It owns the
    // error.
    event.then(move |result| unsafe { callback(outcome(result), argument.get()) });
    Ok(())
}

pub fn create(a: &mut EventCreate) -> Result {
    a.event = Handle::allocate(Event::Own(Arc::default()));
    Ok(())
}

pub fn set(a: &mut EventSet) -> Result {
    let Event::Own(promise) = a.event.get()? else {
        return Err(Fault::invalid("expected an event that PJRT_Event_Create made"));
    };
    let value = match a.error_code {
        0 => Ok(()),
        code => Err(Fault::new(Code::from_number(code), a.error_message.text()?)),
    };
    if promise.keep(value) {
        Ok(())
    } else {
        Err(Fault::new(Code::FailedPrecondition, "the event was set before"))
    }
}
