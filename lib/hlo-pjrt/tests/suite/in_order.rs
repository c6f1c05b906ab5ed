//! Tests of the order in which runs with effects complete.

use hlo_pjrt::fault::Fault;
use hlo_pjrt::internals::InOrder;
use hlo_pjrt::promise::Promise;
use std::sync::Arc;

#[test]
fn what_ends_first_waits_for_what_began_first() {
    let (order, runs) = (InOrder::default(), [(); 3].map(|()| Arc::<Promise<()>>::default()));
    runs.iter().for_each(|run| order.begin(run.clone()));
    order.end(&runs[1], Err(Fault::internal("it failed")));
    assert!(runs.iter().all(|run| run.get().is_none()));
    order.end(&runs[0], Ok(()));
    assert_eq!(runs[0].get(), Some(&Ok(())));
    assert!(runs[1].get().is_some_and(|outcome| outcome.is_err()) && runs[2].get().is_none());
    order.end(&runs[2], Ok(()));
    assert_eq!(runs[2].get(), Some(&Ok(())));
}
