//! Tests of `Module::access`, which describes the elements that an element of the result depends on, against
//! the interpreter. The tests change each element of each operand. The elements of the result that change
//! must be those that depend on it.

use crate::common::module;
use hlo_eval::{Options, evaluate};
use hlo_ir::access::ReadFor;
use hlo_ir::{ElementType, InstrId, Literal, Module, unravel};

/// Parses an instruction on parameters `$0: SHAPE`. Integers are given as values: `$1: s32[2] {0, 1}`.
fn parsed(instruction: &str, operands: &[&str]) -> (Module, Vec<Literal>) {
    let (mut body, mut last, mut inputs) = (String::new(), instruction.to_string(), Vec::new());
    for (i, operand) in operands.iter().enumerate() {
        last = last.replace(&format!("${i}"), &format!("p{i}"));
        let shape = operand.split(' ').next().unwrap_or(operand);
        body += &format!("  p{i} = {shape} parameter({i})\n");
        inputs.push(if operand.contains(' ') {
            crate::common::literal(operand)
        } else {
            numbers(&crate::common::module(&format!(
                "HloModule m\nENTRY e {{\n  ROOT p = {shape} parameter(0)\n}}\n"
            )))
        });
    }
    let functions = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n\
                     less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = pred[] compare(a, b), direction=LT }\n";
    (module(&format!("HloModule m\n{functions}ENTRY e {{\n{body}  ROOT r = {last}\n}}\n")), inputs)
}

/// Returns different numbers in the shape of the module's result.
fn numbers(of: &Module) -> Literal {
    let shape = of[of[of.entry()].root()].shape.clone();
    let mut literal = Literal::try_zeros(&shape).expect("a small array");
    let different = |i: usize| 1.0 + (i * 7 % 64) as f32 * 0.25;
    literal.elements_mut::<f32>().iter_mut().enumerate().for_each(|(i, x)| *x = different(i));
    literal
}

fn run(module: &Module, inputs: &[Literal]) -> Vec<f32> {
    let result = evaluate(module, inputs, &Options::default()).unwrap_or_else(|e| panic!("{}", e.message));
    result.leaves()[0].elements::<f32>().to_vec()
}

/// Returns for each element of the result the positions in operand `n` that `Module::access` lists for it.
fn said(module: &Module, root: InstrId, n: usize) -> Option<Vec<Vec<usize>>> {
    let leaves = module[root].shape.leaves();
    let result = leaves[0].as_array().expect("an array");
    let operand = module[module[root].operands[n]].shape.as_array().expect("an array");
    let access = module.access(root, n);
    (0..result.element_count())
        .map(|r| {
            let index = unravel(r, &result.dims);
            let read = ReadFor { index: &index, dims: &result.dims, window: module[root].op.window() };
            access.positions(&operand.dims, read)
        })
        .collect()
}

/// Changes each element of each operand of floats. With `exact`, every listed element of an array must change
/// the result. A scalar need not, because it may apply to only some elements.
#[track_caller]
fn check(exact: bool, instruction: &str, operands: &[&str]) {
    let (module, inputs) = parsed(instruction, operands);
    let root = module[module.entry()].root();
    let before = run(&module, &inputs);
    for n in 0..inputs.len() {
        if inputs[n].shape().as_array().is_none_or(|a| a.element_type != ElementType::F32) {
            continue;
        }
        let Some(said) = said(&module, root, n) else {
            panic!("nothing is said of operand {n}: {instruction}")
        };
        let exact = exact && !inputs[n].shape().is_scalar();
        for at in 0..inputs[n].elements::<f32>().len() {
            let mut changed = inputs.clone();
            changed[n].elements_mut::<f32>()[at] += 1000.0;
            for (r, (x, y)) in before.iter().zip(run(&module, &changed)).enumerate() {
                let (differs, expected) = (x.to_bits() != y.to_bits(), said[r].contains(&at));
                assert!(
                    !differs || expected,
                    "{instruction}: element {at} of operand {n} is read for {r}, said are {:?}",
                    said[r]
                );
                assert!(
                    !exact || differs || !expected,
                    "{instruction}: element {at} of operand {n} is not read for {r}"
                );
            }
        }
    }
}

#[test]
fn elements_that_stay_in_their_place() {
    check(true, "f32[2,3] add($0, $1)", &["f32[2,3]", "f32[2,3]"]);
    check(true, "f32[2,3] copy($0)", &["f32[2,3]"]);
    check(false, "f32[2,3] clamp($0, $1, $2)", &["f32[]", "f32[2,3]", "f32[]"]);
    check(false, "f32[2] select($0, $1, $2)", &["pred[2] {true, false}", "f32[2]", "f32[2]"]);
    check(true, "f32[4] map($0, $1), dimensions={0}, to_apply=add", &["f32[4]", "f32[4]"]);
}

#[test]
fn elements_that_move() {
    check(true, "f32[4,2,3] broadcast($0), dimensions={2}", &["f32[3]"]);
    check(true, "f32[4,2] broadcast($0), dimensions={}", &["f32[]"]);
    check(true, "f32[4,2,3] transpose($0), dimensions={2,0,1}", &["f32[2,3,4]"]);
    check(true, "f32[3,4] reverse($0), dimensions={1}", &["f32[3,4]"]);
    check(true, "f32[2,2] slice($0), slice={[1:4:2], [2:4]}", &["f32[5,4]"]);
    check(true, "f32[6,5] pad($0, $1), padding=1_1_2x-1_2", &["f32[2,4]", "f32[]"]);
    check(true, "f32[3,1] pad($0, $1), padding=-1_-1x0_-2_1", &["f32[5,2]", "f32[]"]);
    check(true, "f32[2,6] concatenate($0, $1, $2), dimensions={1}", &["f32[2,1]", "f32[2,2]", "f32[2,3]"]);
    check(true, "f32[3,4] reshape($0)", &["f32[2,6]"]);
    check(true, "f32[3,4] bitcast($0)", &["f32[2,6]"]);
}

#[test]
fn elements_that_run_time_moves() {
    check(
        false,
        "f32[2,3] dynamic-slice($0, $1, $2), dynamic_slice_sizes={2,3}",
        &["f32[4,3]", "s32[] 1", "s32[] 5"],
    );
    check(
        false,
        "f32[4,3] dynamic-update-slice($0, $1, $2, $3)",
        &["f32[4,3]", "f32[2,3]", "s32[] 1", "s32[] 5"],
    );
    check(
        false,
        "f32[2,3,2] gather($0, $1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
         index_vector_dim=2, slice_sizes={1,3}",
        &["f32[4,3]", "s32[2,2,1] {{{3},{0}},{{1},{9}}}"],
    );
    check(
        false,
        "f32[3,2] gather($0, $1), offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0}, \
         start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,2}",
        &["f32[3,4]", "s32[3,1] {{0},{2},{1}}"],
    );
    check(
        false,
        "f32[4,3] scatter($0, $1, $2), update_window_dims={1}, inserted_window_dims={0}, \
         scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        &["f32[4,3]", "s32[2,1] {{3},{1}}", "f32[2,3]"],
    );
}

#[test]
fn elements_that_are_combined() {
    check(true, "f32[3] reduce($0, $1), dimensions={0,2}, to_apply=add", &["f32[2,3,4]", "f32[]"]);
    check(
        true,
        "f32[2,4] reduce-window($0, $1), window={size=2x3 stride=2x1 pad=0_1x1_1}, to_apply=add",
        &["f32[3,4]", "f32[]"],
    );
    check(
        true,
        "f32[4] reduce-window($0, $1), window={size=3 stride=2 pad=2_2 lhs_dilate=2 rhs_dilate=2}, to_apply=add",
        &["f32[4]", "f32[]"],
    );
    check(
        true,
        "f32[2,3,4] dot($0, $1), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={0}, \
         rhs_contracting_dims={2}",
        &["f32[5,2,3]", "f32[2,4,5]"],
    );
    check(false, "f32[3,4] sort($0), dimensions={1}, to_apply=less", &["f32[3,4]"]);
    check(false, "(f32[3,2], s32[3,2]) topk($0), k=2, largest=true", &["f32[3,4]"]);
    check(
        false,
        "f32[2,3] triangular-solve($0, $1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
        &["f32[2,2]", "f32[2,3]"],
    );
    check(
        false,
        "f32[2,2] triangular-solve($0, $1), lower=true, transpose_a=NO_TRANSPOSE",
        &["f32[2,2]", "f32[2,2]"],
    );
}

#[test]
fn elements_of_products_of_groups_and_blocks() {
    // The rows of the left operand select the matrix: 3 rows the first, 1 row the second.
    check(
        false,
        "f32[4,2] ragged-dot($0, $1, $2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, \
         rhs_group_dims={0}",
        &["f32[4,3]", "f32[2,3,2]", "s32[2] {3, 1}"],
    );
    check(
        false,
        "f32[2,3,4,2] ragged-dot($0, $1, $2), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, \
         rhs_contracting_dims={1}, lhs_ragged_dims={2}",
        &["f32[3,4,5]", "f32[3,5,2]", "s32[2] {3, 2}"],
    );
    check(
        false,
        "f32[3,4,2] ragged-dot($0, $1, $2), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, \
         rhs_contracting_dims={1}, lhs_ragged_dims={0}",
        &["f32[3,4,5]", "f32[3,5,2]", "s32[2] {1, 2}"],
    );
    // Two blocks along the sum and along the left operand's rows. The right operand's columns share one
    // scale.
    check(
        true,
        "f32[4,2] scaled-dot($0, $1, $2, $3), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        &["f32[4,6]", "f32[6,2]", "f32[2,2]", "f32[3,1]"],
    );
    check(
        true,
        "f32[4,2] scaled-dot($0, $1, $2, $3), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        &["f32[4,6]", "f32[6,2]", "f32[4,6]", "f32[]"],
    );
}

#[test]
fn elements_that_windows_and_indices_choose() {
    check(
        false,
        "f32[2,4,2] select-and-scatter($0, $1, $2), window={size=1x2x1 stride=1x2x1}, select=less, scatter=add",
        &["f32[2,4,2]", "f32[2,2,2]", "f32[]"],
    );
    check(
        false,
        "f32[2,4,3] scatter($0, $1, $2), update_window_dims={1}, inserted_window_dims={1}, input_batching_dims={0}, \
         scatter_indices_batching_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, to_apply=add",
        &["f32[2,4,3]", "s32[3,2,1] {{{0},{1}},{{2},{3}},{{1},{0}}}", "f32[3,3,2]"],
    );
}

#[test]
fn elements_of_convolutions() {
    check(
        true,
        "f32[2,4,5] convolution($0, $1), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
        &["f32[2,4,3]", "f32[3,3,5]"],
    );
    check(
        true,
        "f32[1,3,4,2] convolution($0, $1), window={size=2x2 stride=2x1 pad=1_1x0_1 lhs_dilate=1x1 rhs_dilate=2x1 \
         rhs_reversal=1x0}, dim_labels=b01f_01io->b01f",
        &["f32[1,5,4,1]", "f32[2,2,1,2]"],
    );
    check(
        true,
        "f32[1,4,4] convolution($0, $1), window={size=2 pad=1_0}, dim_labels=b0f_0io->b0f, feature_group_count=2",
        &["f32[1,4,4]", "f32[2,2,4]"],
    );
    check(
        false,
        "f32[1,4,2] convolution($0, $1), window={size=2 pad=1_0}, dim_labels=b0f_0io->b0f, batch_group_count=2",
        &["f32[2,4,3]", "f32[2,3,2]"],
    );
}

#[test]
fn batch_normalization_reads_the_feature() {
    check(
        false,
        "f32[2,3,2] batch-norm-inference($0, $1, $2, $3, $4), epsilon=0.1, feature_index=1",
        &["f32[2,3,2]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"],
    );
}
