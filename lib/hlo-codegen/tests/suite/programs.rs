//! Programs of unusual form: layouts that disagree, results of several sizes, empty arrays, very long or
//! deeply nested computations. They compute the interpreter's results, or compilation reports a diagnostic.

use crate::module;
use hlo_codegen::{CompileOptions, compile};
use hlo_ir::{ElementType, Literal, Shape};
use std::fmt::Write;

/// Returns a deterministic array of small numbers.
fn input(shape: &Shape, seed: usize) -> Literal {
    let a = shape.as_array().unwrap();
    let value = |i: usize| (i * 7 + seed * 5) % 11;
    let n = a.element_count();
    match a.element_type {
        ElementType::F32 => {
            let v: Vec<f32> = (0..n).map(|i| value(i) as f32).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::S32 => {
            let v: Vec<i32> = (0..n).map(|i| value(i) as i32).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::Pred => {
            let v: Vec<u8> = (0..n).map(|i| (value(i) % 2) as u8).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        other => panic!("no inputs of type {other}"),
    }
}

/// Returns a literal's bytes in the order of a layout.
fn laid_out(literal: &Literal, shape: &Shape) -> Vec<u8> {
    let a = shape.as_array().unwrap();
    let (size, strides) = (a.element_type.byte_size(), a.strides());
    let mut out = vec![0; literal.bytes().len()];
    for (n, element) in literal.bytes().chunks_exact(size).enumerate() {
        let (mut rest, mut at) = (n, 0);
        for d in (0..a.rank()).rev() {
            let dim = a.dims[d] as usize;
            at += rest % dim * strides[d] as usize;
            rest /= dim;
        }
        out[at * size..][..size].copy_from_slice(element);
    }
    out
}

/// Compares compiled code with the interpreter bit for bit.
pub(super) fn check(text: &str) {
    let m = module(text);
    let executable = compile(m.as_ref(), &CompileOptions { threads: 2, ..CompileOptions::default() })
        .unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let mut inputs = Vec::new();
    for p in m.parameters(m.entry()) {
        let mut leaves: Vec<Literal> =
            m[p].shape.leaves().into_iter().enumerate().map(|(n, s)| input(s, inputs.len() + n)).collect();
        inputs.push(if m[p].shape.is_tuple() { Literal::tuple(leaves) } else { leaves.remove(0) });
    }
    let want = hlo_eval::evaluate(&m, &inputs, &hlo_eval::Options::default()).unwrap();
    let shapes = executable.parameters().iter().flat_map(Shape::leaves);
    let buffers: Vec<Vec<u8>> =
        inputs.iter().flat_map(|l| l.leaves()).zip(shapes).map(|(l, s)| laid_out(l, s)).collect();
    let slices: Vec<&[u8]> = buffers.iter().map(|b| &b[..]).collect();
    let got = executable.run(&slices).unwrap();
    for ((got, want), shape) in got.iter().zip(want.leaves()).zip(executable.result().leaves()) {
        assert_eq!(got[..], laid_out(want, shape)[..], "a result of shape {shape:#}\n{text}");
    }
}

/// Returns the first message for a program that cannot be compiled.
fn refused(text: &str) -> String {
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    let errors = compile(module(text).as_ref(), &options).err().unwrap_or_else(|| panic!("compiled"));
    errors[0].message.clone()
}

#[test]
fn the_entry_layout_says_how_parameters_and_results_lie() {
    let text = "HloModule m, entry_computation_layout={(f32[2,3]{0,1}, (s32[3,4]{1,0}, f32[5]{0}))->(f32[3,2]{0,1}, s32[3,4]{0,1})}\n\
                ENTRY e {\n a = f32[2,3] parameter(0)\n t = (s32[3,4]{0,1}, f32[5]) parameter(1)\n \
                b = f32[3,2] transpose(a), dimensions={1,0}\n c = s32[3,4]{1,0} get-tuple-element(t), index=0\n \
                n = s32[3,4] negate(c)\n ROOT r = (f32[3,2], s32[3,4]) tuple(b, n)\n}\n";
    check(text);
    let executable = compile(module(text).as_ref(), &CompileOptions::default()).unwrap();
    assert_eq!(format!("{:#}", executable.parameters()[0]), "f32[2,3]{0,1}");
    assert_eq!(format!("{:#}", executable.result()), "(f32[3,2]{0,1}, s32[3,4]{0,1})");
}

#[test]
fn layouts_change_at_tuples_and_calls() {
    check(
        "HloModule m\nf {\n p = f32[3,5]{0,1} parameter(0)\n ROOT t = f32[5,3]{0,1} transpose(p), dimensions={1,0}\n}\n\
         ENTRY e {\n a = f32[3,5]{1,0} parameter(0)\n c = f32[5,3]{1,0} call(a), to_apply=f\n \
         t = (f32[5,3]{0,1}, f32[3,5]{0,1}) tuple(c, a)\n x = f32[5,3]{1,0} get-tuple-element(t), index=0\n \
         o = (f32[5,3]{1,0}, f32[3,5]{0,1}) opt-barrier(t)\n y = f32[5,3]{1,0} get-tuple-element(o), index=0\n \
         s = f32[5,3] add(x, y)\n ROOT r = (f32[5,3], f32[5,3]{0,1}) tuple(s, c)\n}\n",
    );
}

#[test]
fn layouts_change_at_loops_and_branches() {
    check(
        "HloModule m\ncond {\n p = (s32[], f32[2,3]{1,0}, f32[2,3]{0,1}) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n \
         m = f32[2,3]{1,0} get-tuple-element(p), index=1\n n = s32[] constant(3)\n ROOT r = pred[] compare(i, n), direction=LT\n}\n\
         body {\n p = (s32[], f32[2,3]{0,1}, f32[2,3]{0,1}) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n \
         a = f32[2,3]{0,1} get-tuple-element(p), index=1\n w = f32[2,3]{0,1} get-tuple-element(p), index=2\n \
         one = s32[] constant(1)\n j = s32[] add(i, one)\n s = f32[2,3]{0,1} add(a, w)\n \
         ROOT t = (s32[], f32[2,3]{0,1}, f32[2,3]{0,1}) tuple(j, s, w)\n}\n\
         then {\n p = f32[2,3]{0,1} parameter(0)\n ROOT n = f32[2,3]{0,1} negate(p)\n}\n\
         else {\n p = f32[2,3]{1,0} parameter(0)\n ROOT n = f32[2,3]{1,0} copy(p)\n}\n\
         ENTRY e {\n a = f32[2,3] parameter(0)\n w = f32[2,3] parameter(1)\n k = pred[] parameter(2)\n z = s32[] constant(0)\n \
         t = (s32[], f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(z, a, w)\n \
         l = (s32[], f32[2,3]{1,0}, f32[2,3]{1,0}) while(t), condition=cond, body=body\n \
         x = f32[2,3]{1,0} get-tuple-element(l), index=1\n y = f32[2,3]{1,0} get-tuple-element(l), index=2\n \
         c = f32[2,3]{1,0} conditional(k, x, y), true_computation=then, false_computation=else\n \
         ROOT r = (f32[2,3], f32[2,3], f32[2,3]{0,1}) tuple(x, y, c)\n}\n",
    );
}

#[test]
fn layouts_change_at_fusions() {
    check(
        "HloModule m\nf {\n p = f32[4,6]{0,1} parameter(0)\n u = f32[1,2]{0,1} parameter(1)\n i = s32[] parameter(2)\n \
         d = f32[4,6]{0,1} dynamic-update-slice(p, u, i, i)\n ROOT t = f32[4,6]{0,1} negate(d)\n}\n\
         g {\n p = f32[4,6]{0,1} parameter(0)\n u = f32[1,2]{0,1} parameter(1)\n i = s32[] parameter(2)\n \
         ROOT d = f32[4,6]{1,0} dynamic-update-slice(p, u, i, i)\n}\n\
         ENTRY e {\n a = f32[4,6]{1,0} parameter(0)\n u = f32[1,2]{1,0} parameter(1)\n i = s32[] parameter(2)\n \
         x = f32[4,6]{1,0} fusion(a, u, i), kind=kLoop, calls=f\n y = f32[4,6]{0,1} fusion(a, u, i), kind=kLoop, calls=g\n \
         ROOT r = (f32[4,6], f32[4,6]{0,1}, f32[4,6]) tuple(x, y, a)\n}\n",
    );
}

#[test]
fn a_fusion_has_results_of_several_dimensions() {
    check(
        "HloModule m\nadd {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, y)\n}\n\
         f {\n a = f32[3,4] parameter(0)\n b = f32[100] parameter(1)\n z = f32[] constant(0)\n \
         n = f32[3,4] negate(a)\n m = f32[100] multiply(b, b)\n s = f32[4] reduce(a, z), dimensions={0}, to_apply=add\n \
         o = f32[3,4] abs(n)\n ROOT t = (f32[3,4], f32[100], f32[4], f32[3,4]) tuple(n, m, s, o)\n}\n\
         ENTRY e {\n a = f32[3,4] parameter(0)\n b = f32[100] parameter(1)\n \
         ROOT r = (f32[3,4], f32[100], f32[4], f32[3,4]) fusion(a, b), kind=kLoop, calls=f\n}\n",
    );
}

#[test]
fn one_value_is_scattered_into_itself() {
    check(
        "HloModule m\nadd {\n x = s32[] parameter(0)\n y = s32[] parameter(1)\n ROOT r = s32[] add(x, y)\n}\n\
         ENTRY e {\n a = s32[4] parameter(0)\n ROOT s = s32[4] scatter(a, a, a), update_window_dims={}, \
         inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n}\n",
    );
}

#[test]
fn empty_pieces_are_never_computed() {
    check(
        "HloModule m\nadd {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, y)\n}\n\
         f {\n a = f32[0] parameter(0)\n k = f32[0,3] constant({})\n b = f32[] parameter(1)\n c = f32[0] concatenate(a, a), dimensions={0}\n \
         x = f32[] reduce(c, b), dimensions={0}, to_apply=add\n y = f32[3] reduce(k, b), dimensions={0}, to_apply=add\n \
         v = f32[3] broadcast(x), dimensions={}\n ROOT r = f32[3] add(v, y)\n}\n\
         ENTRY e {\n a = f32[0] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[3] fusion(a, b), kind=kLoop, calls=f\n}\n",
    );
}

#[test]
fn rows_in_a_loop_do_not_use_up_the_stack() {
    // A small softmax keeps its exponentials on the stack. The loop runs it two million times.
    check(
        "HloModule m\nadd {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, y)\n}\n\
         f {\n a = f32[2,4] parameter(0)\n z = f32[] constant(0)\n x = f32[2,4] divide(a, a)\n \
         s = f32[2] reduce(x, z), dimensions={1}, to_apply=add\n b = f32[2,4] broadcast(s), dimensions={0}\n \
         ROOT d = f32[2,4] subtract(b, x)\n}\n\
         cond {\n p = (s32[], f32[2,4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(200000)\n \
         ROOT r = pred[] compare(i, n), direction=LT\n}\n\
         body {\n p = (s32[], f32[2,4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n one = s32[] constant(1)\n \
         j = s32[] add(i, one)\n a = f32[2,4] get-tuple-element(p), index=1\n b = f32[2,4] fusion(a), kind=kLoop, calls=f\n \
         ROOT t = (s32[], f32[2,4]) tuple(j, b)\n}\n\
         ENTRY e {\n a = f32[2,4] constant({{1,2,3,4},{5,6,7,8}})\n z = s32[] constant(0)\n t = (s32[], f32[2,4]) tuple(z, a)\n \
         w = (s32[], f32[2,4]) while(t), condition=cond, body=body\n ROOT r = f32[2,4] get-tuple-element(w), index=1\n}\n",
    );
}

/// Returns a fusion of `n` additions. Each adds the parameter to the previous result.
fn chain(n: usize, shape: &str) -> String {
    let mut text = format!("HloModule m\nf {{\n x0 = {shape} parameter(0)\n");
    for k in 1..=n {
        let root = if k == n { "ROOT " } else { "" };
        let _ = writeln!(text, " {root}x{k} = {shape} add(x{}, x0)", k - 1);
    }
    let _ = write!(
        text,
        "}}\nENTRY e {{\n a = {shape} parameter(0)\n ROOT r = {shape} fusion(a), kind=kLoop, calls=f\n}}\n"
    );
    text
}

#[test]
fn long_chains_are_compiled() {
    check(&chain(3_000, "s32[5]"));
    check(&chain(3_000, "s32[]"));
    // Too many instructions for one kernel.
    check(&chain(26_000, "f32[5]"));
}

#[test]
fn deep_nests_are_compiled() {
    // In one kernel, each pad would be a condition nested in the previous one.
    let mut text = String::from("HloModule m\nf {\n x0 = f32[5] parameter(0)\n z = f32[] constant(0)\n");
    for k in 1..=400 {
        let root = if k == 400 { "ROOT " } else { "" };
        let _ = writeln!(text, " {root}x{k} = f32[{}] pad(x{}, z), padding=1_1", 5 + 2 * k, k - 1);
    }
    text.push_str(
        "}\nENTRY e {\n a = f32[5] parameter(0)\n ROOT r = f32[805] fusion(a), kind=kLoop, calls=f\n}\n",
    );
    check(&text);
}

#[test]
fn exponential_programs_are_compiled_step_by_step_or_refused() {
    // In one kernel, the number of indices of the value would double at every level.
    let mut text = String::from("HloModule m\nf {\n x0 = f32[64] parameter(0)\n");
    for k in 1..=40 {
        let root = if k == 40 { "ROOT " } else { "" };
        let _ = writeln!(text, " y{k} = f32[64] reverse(x{}), dimensions={{0}}", k - 1);
        let _ = writeln!(text, " sl{k} = f32[63] slice(y{k}), slice={{[1:64]}}");
        let _ = writeln!(text, " o{k} = f32[1] slice(x{}), slice={{[{k}:{}]}}", k - 1, k + 1);
        let _ = writeln!(text, " cc{k} = f32[64] concatenate(sl{k}, o{k}), dimensions={{0}}");
        let _ = writeln!(text, " {root}x{k} = f32[64] add(cc{k}, x{})", k - 1);
    }
    text.push_str(
        "}\nENTRY e {\n a = f32[64] parameter(0)\n ROOT r = f32[64] fusion(a), kind=kLoop, calls=f\n}\n",
    );
    check(&text);

    // Reducers and loop bodies whose number of calls doubles at every level.
    let mut text =
        String::from("HloModule m\ncall0 {\n x = f32[] parameter(0)\n ROOT n = f32[] negate(x)\n}\n");
    for k in 1..=40 {
        let _ = writeln!(
            text,
            "call{k} {{\n x = f32[] parameter(0)\n y = f32[] call(x), to_apply=call{0}\n ROOT z = f32[] call(y), to_apply=call{0}\n}}",
            k - 1
        );
    }
    let reduce = "add {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n s = f32[] add(x, y)\n ROOT r = f32[] call(s), to_apply=call40\n}\n\
                  ENTRY e {\n a = f32[9] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add\n}\n";
    assert!(refused(&format!("{text}{reduce}")).contains("expand to more than"));
    let identity = text.replace("ROOT n = f32[] negate(x)", "ROOT n = f32[] reshape(x)");
    let body = "cond {\n p = (f32[]) parameter(0)\n x = f32[] get-tuple-element(p), index=0\n ROOT r = pred[] compare(x, x), direction=NE\n}\n\
                body {\n p = (f32[]) parameter(0)\n x = f32[] get-tuple-element(p), index=0\n y = f32[] call(x), to_apply=call40\n ROOT t = (f32[]) tuple(y)\n}\n\
                ENTRY e {\n a = f32[] parameter(0)\n t = (f32[]) tuple(a)\n w = (f32[]) while(t), condition=cond, body=body\n ROOT r = f32[] get-tuple-element(w), index=0\n}\n";
    // The loop's code calls the computations too, so that nothing is copied.
    check(&format!("{identity}{body}"));
}

#[test]
fn large_sizes_and_margins_do_not_overflow() {
    check(
        "HloModule m\nENTRY e {\n a = f32[8] parameter(0)\n z = f32[] parameter(1)\n \
         p = f32[7] pad(a, z), padding=-4611686018427387904_4611686018427387903\n \
         i = f32[2] pad(a, z), padding=-8070450532247928831_0_1152921504606846975\n ROOT r = (f32[7], f32[2]) tuple(p, i)\n}\n",
    );
}

#[test]
fn a_conditional_has_many_branches() {
    let mut text = String::from("HloModule m\n");
    let mut names = Vec::new();
    for k in 0..600 {
        let _ = writeln!(
            text,
            "b{k} {{\n p = s32[] parameter(0)\n c = s32[] constant({k})\n ROOT r = s32[] add(p, c)\n}}"
        );
        names.push(format!("b{k}"));
    }
    let arguments = vec!["a"; 600].join(", ");
    let branches = names.join(", ");
    for selector in ["0", "1", "299", "598", "599", "600", "-1", "-2147483648", "2147483647"] {
        let entry = format!(
            "ENTRY e {{\n a = s32[] parameter(0)\n k = s32[] constant({selector})\n ROOT r = s32[] conditional(k, {arguments}), branch_computations={{{branches}}}\n}}\n"
        );
        check(&format!("{text}{entry}"));
    }
}

#[test]
fn a_large_constant_in_a_fusion_is_read_from_memory() {
    let numbers: Vec<String> = (0..30_000).map(|n| (n % 1000).to_string()).collect();
    check(&format!(
        "HloModule m\nf {{\n i = s32[] parameter(0)\n k = s32[30000] constant({{{}}})\n \
         s = s32[40] dynamic-slice(k, i), dynamic_slice_sizes={{40}}\n t = s32[40] slice(k), slice={{[29960:30000]}}\n \
         ROOT r = s32[40] add(s, t)\n}}\nENTRY e {{\n i = s32[] parameter(0)\n ROOT r = s32[40] fusion(i), kind=kLoop, calls=f\n}}\n",
        numbers.join(",")
    ));
}

#[test]
fn large_copies_are_shared_among_the_threads() {
    check(
        "HloModule m\nENTRY e {\n a = f32[300007] parameter(0)\n b = s32[3] parameter(1)\n \
         ROOT r = (f32[300007], s32[3], f32[300007]) tuple(a, b, a)\n}\n",
    );
}

#[test]
fn a_fused_bitcast_changes_the_type() {
    check(
        "HloModule m\nf {\n a = f32[6] parameter(0)\n b = s32[2,3] bitcast(a)\n ROOT n = s32[2,3] negate(b)\n}\n\
         ENTRY e {\n a = f32[6] parameter(0)\n ROOT r = s32[2,3] fusion(a), kind=kLoop, calls=f\n}\n",
    );
}

/// Tests arrays without elements as operands, windows and results, where other arrays are not empty.
#[test]
fn empty_operands_of_every_kind() {
    let entry = |operation: &str| {
        format!(
            "HloModule m\nadd {{\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, y)\n}}\n\
             ENTRY e {{\n a = f32[0,3] parameter(0)\n b = f32[5,3] parameter(1)\n c = f32[5,0] parameter(2)\n \
             z = f32[] parameter(3)\n i = s32[] parameter(4)\n k = s32[2,1] parameter(5)\n n = s32[0,1] parameter(6)\n \
             s = f32[3] parameter(7)\n ROOT r = {operation}\n}}\n"
        )
    };
    for operation in [
        "f32[3] reduce(a, z), dimensions={0}, to_apply=add",
        "f32[5] reduce(c, z), dimensions={1}, to_apply=add",
        "f32[] reduce(c, z), dimensions={0,1}, to_apply=add",
        "f32[5,3] concatenate(a, b), dimensions={0}",
        "f32[4,3] pad(a, z), padding=1_3x0_0",
        "f32[5,3] dot(c, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "f32[5,3] dynamic-update-slice(b, a, i, i)",
        "f32[0,3] dynamic-slice(b, i, i), dynamic_slice_sizes={0,3}",
        "f32[0,3] gather(b, n), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
        "f32[2,0] gather(c, k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,0}",
        "f32[5,3] scatter(b, n, a), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        "f32[3,0] transpose(a), dimensions={1,0}",
        "f32[0] reshape(c)",
        "f32[0,3] negate(a)",
        "f32[0,5,3] broadcast(b), dimensions={1,2}",
        "f32[1,3] reduce-window(a, z), window={size=2x1 pad=1_1x0_0}, to_apply=add",
        "f32[5,3] copy(b)",
        "f32[0] iota(), iota_dimension=0",
        "(f32[0,3], f32[5,3], f32[]) tuple(a, b, z)",
    ] {
        check(&entry(operation));
    }
}

#[test]
fn windows_without_elements_give_zeros() {
    // A slice of size 0 in a dropped dimension. jaxlib returns zeros.
    let m = module(
        "HloModule m\nENTRY e {\n a = f32[5] parameter(0)\n i = s32[3] parameter(1)\n \
         ROOT r = f32[3] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, \
         slice_sizes={0}\n}\n",
    );
    let executable = compile(m.as_ref(), &CompileOptions::default()).unwrap();
    let a: Vec<u8> = [1f32, 2.0, 3.0, 4.0, 5.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let i: Vec<u8> = [-7i32, 5, i32::MAX].iter().flat_map(|v| v.to_le_bytes()).collect();
    let got = executable.run(&[&a, &i]).unwrap();
    assert_eq!(got[0][..], [0u8; 12]);
}

#[test]
fn enormous_values_inside_a_fusion_take_no_memory() {
    let m = module(
        "HloModule m\nf {\n a = f32[] parameter(0)\n b = f32[1048576,1048576,1048576] broadcast(a), dimensions={}\n \
         i = s32[1048576,1048576,1048576] iota(), iota_dimension=2\n c = f32[1048576,1048576,1048576] convert(i)\n \
         d = f32[1048576,1048576,1048576] add(b, c)\n \
         ROOT s = f32[1,2,2] slice(d), slice={[1048575:1048576], [7:9], [1048574:1048576]}\n}\n\
         ENTRY e {\n a = f32[] parameter(0)\n ROOT r = f32[1,2,2] fusion(a), kind=kLoop, calls=f\n}\n",
    );
    let executable = compile(m.as_ref(), &CompileOptions::default()).unwrap();
    let got = executable.run(&[&0.5f32.to_le_bytes()]).unwrap();
    let want = [1_048_574.5f32, 1_048_575.5, 1_048_574.5, 1_048_575.5];
    assert_eq!(got[0][..], want.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()[..]);
}

#[test]
fn nested_calls_are_refused_beyond_a_bound() {
    let mut text =
        String::from("HloModule m\ncall0 {\n x = f32[] parameter(0)\n ROOT n = f32[] negate(x)\n}\n");
    for k in 1..=20_000 {
        let _ = writeln!(
            text,
            "call{k} {{\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=call{}\n}}",
            k - 1
        );
    }
    text.push_str("ENTRY e {\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=call20000\n}\n");
    assert!(refused(&text).contains("deep"));
}
