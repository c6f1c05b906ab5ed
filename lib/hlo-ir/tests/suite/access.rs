//! Tests of the elements of operands that an instruction reads.

use hlo_ir::access::{Access, Along, Axis, access};
use hlo_ir::attr::AllToAllAttrs;
use hlo_ir::{ElementType, Op, Shape};

#[test]
fn devices_exchange_parts_along_the_split_dimension() {
    let shape = Shape::array(ElementType::F32, [4, 3]);
    let attrs = AllToAllAttrs { dimensions: [0].into_iter().collect(), ..AllToAllAttrs::default() };
    let op = Op::AllToAll(Box::new(attrs));
    assert_eq!(
        access(&op, 0, &[&shape], &shape),
        Access::Axes([Axis::Any, Axis::Along(Along::same(1))].into_iter().collect())
    );
}
