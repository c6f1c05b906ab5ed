//! Tests of tasks that run once.

use hlo_pjrt::internals::{Task, TaskReference};
use hlo_pjrt::promise::Promise;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn a_task_is_done_once_by_whoever_comes_first() {
    let times = Arc::new(AtomicU32::new(0));
    let count = times.clone();
    let task = Task::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let maker = TaskReference::default();
    maker.run_if_not_started();
    assert_eq!(times.load(Ordering::Relaxed), 0, "it is not offered yet");
    maker.offer(&task);
    maker.run_if_not_started();
    task.run();
    assert_eq!(times.load(Ordering::Relaxed), 1);
}

#[test]
fn who_waits_makes_what_nobody_has_begun() {
    let maker = TaskReference::default();
    let promise = Arc::new(Promise::by(maker.clone()));
    let (there, caller) = (promise.clone(), std::thread::current().id());
    let task = Task::new(move || {
        there.keep(Ok(std::thread::current().id() == caller));
    });
    maker.offer(&task);
    assert!(matches!(promise.wait(), Ok(true)), "on this thread, as there is no other");
}
