//! Stack space for recursion: a text whose brackets nest deeply is read on a thread with a large stack. The
//! stack's size costs nothing, because stack memory is used only when it is touched.

use crate::scan::{MAX_DEPTH, SEPARATE_STACK_DEPTH};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// Stack size in bytes. It is sufficient for the maximum nesting depth that the scan accepts, in a build
/// without optimization.
const STACK_BYTES: usize = MAX_DEPTH * (256 << 10);

/// Runs `read`, which recurses for brackets nested `depth` deep.
pub fn with_room<T: Send>(depth: usize, read: impl FnOnce() -> T + Send) -> Result<T, Vec<Diag>> {
    if depth <= SEPARATE_STACK_DEPTH {
        return Ok(read());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, read);
        let no_room = |why: String| {
            let message = format!("brackets nest {depth} deep, and there is no memory to read them: {why}");
            vec![Diag::error(message).with_code(code::BRACKET_DEPTH)]
        };
        match thread.map(|t| t.join()) {
            Ok(Ok(result)) => Ok(result),
            // A panic of the thread continues here.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(no_room(e.to_string())),
        }
    })
}
