//! Data that all threads of a run share, for functions that the program calls.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

/// Data of any type.
pub type RunData = Arc<dyn Any + Send + Sync>;

thread_local! {
    /// The data of the run of this thread.
    static CURRENT: RefCell<Option<RunData>> = const { RefCell::new(None) };
}

/// Restores the previous data when dropped.
struct RestoreGuard(Option<RunData>);

impl Drop for RestoreGuard {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Runs a function with the data of a run. The data is available on this thread and on the threads of the
/// run's devices ([`crate::on_threads`]).
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
    let _before = RestoreGuard(CURRENT.replace(data));
    run()
}

/// Returns the data of the run of this thread.
pub fn current() -> Option<RunData> {
    CURRENT.with_borrow(Clone::clone)
}
