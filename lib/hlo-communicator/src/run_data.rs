//! Data of a run, which all of its threads have: what functions that the program calls ask for.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

/// Data of whatever type.
pub type RunData = Arc<dyn Any + Send + Sync>;

thread_local! {
    /// The data of the run that this thread makes.
    static CURRENT: RefCell<Option<RunData>> = const { RefCell::new(None) };
}

/// Puts back what there was before.
struct Before(Option<RunData>);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Makes a run with its data: on this thread, and on those that it has for its devices ([`crate::on_threads`]).
///
/// # Example
/// ```
/// use hlo_communicator::run_data;
/// use std::sync::Arc;
///
/// let seven = || run_data::current().and_then(|data| data.downcast::<i32>().ok()).map(|n| *n);
/// assert_eq!(run_data::with(Some(Arc::new(7)), seven), Some(7));
/// assert_eq!(seven(), None);
/// ```
pub fn with<T>(data: Option<RunData>, run: impl FnOnce() -> T) -> T {
    let _before = Before(CURRENT.replace(data));
    run()
}

/// The data of the run that this thread makes.
pub fn current() -> Option<RunData> {
    CURRENT.with_borrow(Clone::clone)
}
