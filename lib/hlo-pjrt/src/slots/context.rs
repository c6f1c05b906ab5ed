//! Functions for contexts of runs.

use crate::fault::Result;
use crate::ffi::ExecuteContext;
use crate::sys::{Handle, args::*};

pub fn create(a: &mut ExecuteContextCreate) -> Result {
    a.context = Handle::allocate(ExecuteContext::default());
    Ok(())
}

pub fn destroy(a: &mut ExecuteContextDestroy) -> Result {
    drop(a.context.take());
    Ok(())
}
