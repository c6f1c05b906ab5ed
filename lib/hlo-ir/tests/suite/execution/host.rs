//! Tests of the queues of infeeds and outfeeds.

use hlo_ir::host::{Host as _, Queues};
use hlo_ir::{ElementType, Literal, Shape};

#[test]
fn items_come_in_order_and_one_that_does_not_fit_stays() {
    let scalar = Shape::scalar(ElementType::S32);
    let mut queues = Queues::with_infeed([1, 2].map(|n: i32| Literal::scalar(ElementType::S32, n)));
    assert_eq!(queues.infeed(&scalar).map(|v| v.integer_at(0)), Ok(Some(1)));
    let error = queues.infeed(&Shape::array(ElementType::F32, [2])).unwrap_err();
    assert_eq!(error, "f32[2] is expected, but the next item is s32[] (1 item consumed before)");
    assert_eq!(queues.infeed(&scalar).map(|v| v.integer_at(0)), Ok(Some(2)));
    let error = queues.infeed(&scalar).unwrap_err();
    assert_eq!(error, "s32[] is expected, but the infeed is empty (2 items consumed before)");
}
