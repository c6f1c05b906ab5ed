//! Random cases of `dot` and `convolution`.

use super::entry;
use super::reductions::window;
use crate::fast_paths::{Case, Random, array, list, shape};
use hlo_ir::ElementType;

pub fn dot(r: &mut Random, ty: ElementType) -> Case {
    let counts = [r.within(0, 1), r.within(0, 2), r.within(0, 2), r.within(0, 1)].map(|n| n as usize);
    let [batch, contracting, left, right] = counts;
    let (batch_sizes, mut contracted) = (r.sizes(batch, 1, 3), r.sizes(contracting, 1, 4));
    if contracting > 0 && r.one_in(10) {
        contracted[0] = 0;
    }
    let (left_sizes, mut right_sizes) = (r.sizes(left, 1, 3), r.sizes(right, 1, 4));
    if right > 0 && r.one_in(6) {
        right_sizes[0] = r.within(120, 140);
    }
    // The dimensions of an operand in any order, and the resulting positions of its batch and contracting
    // dimensions.
    let mut operand = |free: &[i64]| {
        let sizes = [&batch_sizes[..], &contracted, free].concat();
        let order = r.permutation(sizes.len());
        let place = |n: usize| order.iter().position(|&o| o == n).expect("a permutation");
        let dims: Vec<i64> = order.iter().map(|&o| sizes[o]).collect();
        let batches: Vec<usize> = (0..batch).map(place).collect();
        let contracts: Vec<usize> = (batch..batch + contracting).map(place).collect();
        let frees: Vec<i64> = (0..dims.len())
            .filter(|d| !batches.contains(d) && !contracts.contains(d))
            .map(|d| dims[d])
            .collect();
        (dims, list(&batches), list(&contracts), frees)
    };
    let (lhs, lhs_batch, lhs_contracting, lhs_free) = operand(&left_sizes);
    let (rhs, rhs_batch, rhs_contracting, rhs_free) = operand(&right_sizes);
    let out = [&batch_sizes[..], &lhs_free, &rhs_free].concat();
    let text = entry(
        "",
        &format!(
            "  x = {} parameter(0)\n  y = {} parameter(1)\n  ROOT r = {} dot(x, y), \
             lhs_batch_dims={{{lhs_batch}}}, lhs_contracting_dims={{{lhs_contracting}}}, \
             rhs_batch_dims={{{rhs_batch}}}, rhs_contracting_dims={{{rhs_contracting}}}",
            shape(ty, &lhs),
            shape(ty, &rhs),
            shape(ty, &out)
        ),
    );
    Case { text, inputs: vec![array(r, ty, &lhs), array(r, ty, &rhs)] }
}

pub fn convolution(r: &mut Random, ty: ElementType) -> Case {
    let spatial = r.within(0, 2) as usize;
    let rank = spatial + 2;
    let (feature_groups, batch_groups) = match r.within(0, 2) {
        0 => (r.within(1, 3), 1),
        1 => (1, r.within(1, 3)),
        _ => (1, 1),
    };
    let (batch, group_features, group_outputs) = (r.within(1, 2), r.within(1, 3), r.within(1, 3));
    let input_spatial = r.sizes(spatial, 1, 5);
    let (window, mut output_spatial) = window(r, &input_spatial);
    let sizes_of = |window: &str| -> Vec<i64> {
        let size = window.split("size=").nth(1).and_then(|w| w.split(' ').next()).unwrap_or_default();
        size.split('x').filter_map(|n| n.parse().ok()).collect()
    };
    let kernel_spatial = sizes_of(&window);
    output_spatial.iter_mut().for_each(|n| *n = (*n).max(0));
    let window = if spatial > 0 && r.one_in(3) {
        window.replace('}', &format!(" rhs_reversal={}}}", list(&r.sizes(spatial, 0, 1)).replace(',', "x")))
    } else {
        window
    };
    let outputs = group_outputs * feature_groups * batch_groups;
    // Labels have one letter per dimension. The dimensions of each array are in any order.
    let mut arranged = |letters: [char; 2], sizes: [i64; 2], spatial_sizes: &[i64]| {
        let mut labels: Vec<(String, i64)> = letters.iter().map(|c| c.to_string()).zip(sizes).collect();
        labels.extend(spatial_sizes.iter().enumerate().map(|(i, &n)| (i.to_string(), n)));
        let order = r.permutation(rank);
        let text: String = order.iter().map(|&o| labels[o].0.clone()).collect();
        (text, order.iter().map(|&o| labels[o].1).collect::<Vec<i64>>())
    };
    let (input_labels, input) =
        arranged(['b', 'f'], [batch * batch_groups, group_features * feature_groups], &input_spatial);
    let (kernel_labels, kernel) = arranged(['i', 'o'], [group_features, outputs], &kernel_spatial);
    let (output_labels, output) = arranged(['b', 'f'], [batch, outputs], &output_spatial);
    let text = entry(
        "",
        &format!(
            "  x = {} parameter(0)\n  k = {} parameter(1)\n  ROOT r = {} convolution(x, k), {window}, \
             dim_labels={input_labels}_{kernel_labels}->{output_labels}, \
             feature_group_count={feature_groups}, batch_group_count={batch_groups}",
            shape(ty, &input),
            shape(ty, &kernel),
            shape(ty, &output)
        ),
    );
    Case { text, inputs: vec![array(r, ty, &input), array(r, ty, &kernel)] }
}
