//! Room for recursion: a text whose brackets nest deeply is read on a thread with a large stack. Memory of a stack is
//! used when it is touched only, so that its size costs nothing.

use crate::scan::{DEEP, MAX_DEPTH};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// Enough for each level of the deepest text that the scan lets through, in a build without optimisation.
const STACK: usize = MAX_DEPTH * (256 << 10);

/// Runs `read`, which recurses with brackets that nest `depth` deep.
pub fn with_room<T: Send>(depth: usize, read: impl FnOnce() -> T + Send) -> Result<T, Vec<Diag>> {
    if depth <= DEEP {
        return Ok(read());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read);
        let no_room = |why: String| {
            let message = format!("brackets nest {depth} deep, and there is no memory to read them: {why}");
            vec![Diag::error(message).with_code(code::BRACKET_DEPTH)]
        };
        match thread.map(|t| t.join()) {
            Ok(Ok(result)) => Ok(result),
            // What went wrong on the thread goes on here.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(no_room(e.to_string())),
        }
    })
}
