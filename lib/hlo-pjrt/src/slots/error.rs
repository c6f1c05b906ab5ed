//! Functions for errors.

use crate::fault::Result;
use crate::sys::{Text, args::*};

pub fn destroy(a: &mut ErrorDestroy) -> Result {
    drop(a.error.take());
    Ok(())
}

pub fn message(a: &mut ErrorMessage) -> Result {
    a.message = Text::of(&a.error.get()?.fault().message);
    Ok(())
}

pub fn get_code(a: &mut ErrorGetCode) -> Result {
    a.code = a.error.get()?.fault().code as i32;
    Ok(())
}

pub fn for_each_payload(a: &mut ErrorForEachPayload) -> Result {
    a.error.get()?.visit_payloads(a.visitor, a.user_arg);
    Ok(())
}
