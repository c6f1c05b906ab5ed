//! Tests the table of the functions that compiled code may call.

use hlo_runtime::{ArgType, hlo_rt_parallel_for, symbols};

#[test]
fn signatures_follow_the_functions() {
    let find = |name: &str| symbols().iter().find(|s| s.name == name).unwrap();
    let dot = find("hlo_rt_dot");
    assert_eq!(dot.args, [ArgType::Ptr; 5]);
    assert_eq!(dot.result, Some(ArgType::I32));
    let parallel_for = find("hlo_rt_parallel_for");
    assert_eq!(parallel_for.args, [ArgType::Ptr, ArgType::Ptr, ArgType::Ptr, ArgType::I64, ArgType::I64]);
    assert_eq!(parallel_for.result, None);
    assert_eq!(parallel_for.address, hlo_rt_parallel_for as *const () as usize);
    assert!(symbols().windows(2).all(|w| w[0].name < w[1].name));
}
