//! Tests of buffer assignment on modules in text form.

use hlo_ir::{Module, Op};
use hlo_plan::assignment::assign;
use hlo_plan::expand::expand;
use hlo_plan::{BufferRef, Plan, Step};

fn module(text: &str) -> Module {
    hlo_parser::parse_module(text).unwrap_or_else(|e| panic!("{e:?}"))
}

fn plan(text: &str) -> (Module, Plan) {
    let m = module(text);
    let expanded = expand(&m, Vec::new()).unwrap();
    let plan = assign(&m, expanded, u64::MAX).unwrap();
    (m, plan)
}

/// Returns one line per step, such as `add.1(P0, A64) -> O0`.
fn lines(m: &Module, steps: &[Step<BufferRef>]) -> Vec<String> {
    let name = |b: &BufferRef| match b {
        BufferRef::Param(n) => format!("P{n}"),
        BufferRef::Output(n) => format!("O{n}"),
        BufferRef::Arena(n) => format!("A{n}"),
        BufferRef::Constant(n) => format!("C{n}"),
    };
    let list = |bs: &[BufferRef]| bs.iter().map(name).collect::<Vec<_>>().join(", ");
    let mut out = Vec::new();
    for s in steps {
        match s {
            Step::Kernel(k) => {
                let operands: Vec<String> =
                    k.operands.iter().map(|o| o.as_ref().map_or("-".into(), name)).collect();
                out.push(format!(
                    "{}({}) -> {}",
                    m[k.instruction].name,
                    operands.join(", "),
                    list(&k.results)
                ));
            }
            Step::Copy { from, to, .. } => out.push(format!("{} = {}", name(to), name(from))),
            Step::Runtime(r) => {
                let name = &m[r.instruction].name;
                out.push(format!("{name}[{}]({}) -> {}", r.loops.len(), list(&r.operands), list(&r.results)));
            }
            Step::While { condition, predicate, body, .. } => {
                out.push("while".into());
                out.extend(lines(m, condition).into_iter().map(|l| format!("  {l}")));
                out.push(format!("do if {}", name(predicate)));
                out.extend(lines(m, body).into_iter().map(|l| format!("  {l}")));
            }
            Step::Conditional { selector, branches, .. } => {
                for (i, b) in branches.iter().enumerate() {
                    out.push(format!("case {} = {i}", name(selector)));
                    out.extend(lines(m, b).into_iter().map(|l| format!("  {l}")));
                }
            }
        }
    }
    out
}

fn check(text: &str, expected: &[&str]) -> Plan {
    let (m, p) = plan(text);
    assert_eq!(lines(&m, &p.steps), expected, "arena {}", p.arena_bytes);
    p
}

#[test]
fn a_chain_of_elementwise_values_is_computed_in_the_output() {
    let p = check(
        "HloModule m\nENTRY e {\n a = f32[1024] parameter(0)\n b = f32[1024] negate(a)\n \
         c = f32[1024] exponential(b)\n ROOT d = f32[1024] add(c, b)\n}\n",
        &["b(P0) -> A0", "c(A0) -> O0", "d(O0, A0) -> O0"],
    );
    assert_eq!(p.arena_bytes, 4096);
}

#[test]
fn a_result_does_not_overwrite_an_operand_that_is_read_elsewhere_or_at_other_indices() {
    check(
        "HloModule m\nENTRY e {\n a = f32[8,8] parameter(0)\n b = f32[8,8] negate(a)\n \
         c = f32[8,8] transpose(b), dimensions={1,0}\n ROOT d = f32[8,8] add(c, b)\n}\n",
        &["b(P0) -> A0", "c(A0) -> O0", "d(O0, A0) -> O0"],
    );
}

#[test]
fn parameters_constants_and_repeated_values_in_the_result_are_copied() {
    check(
        "HloModule m\nENTRY e {\n a = f32[4] parameter(0)\n k = f32[4] constant({1,2,3,4})\n \
         n = f32[4] negate(a)\n ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, k, n, n)\n}\n",
        &["n(P0) -> O3", "O0 = P0", "O1 = C0", "O2 = O3"],
    );
}

#[test]
fn constants_that_share_their_elements_share_a_buffer() {
    let mut m = module(
        "HloModule m\nENTRY e {\n a = s32[2,2] constant({{1,2},{3,4}})\n b = s32[2,2] constant({{1,2},{3,4}})\n \
         c = s32[2,2]{0,1} constant({{1,2},{3,4}})\n d = s32[2,2] constant({{1,2},{3,4}})\n \
         ROOT t = (s32[2,2], s32[2,2], s32[2,2]{0,1}, s32[2,2]) tuple(a, b, c, d)\n}\n",
    );
    let ids = m[m.entry()].instructions().to_vec();
    let Op::Constant(first) = m[ids[0]].op.clone() else { panic!("a constant") };
    for &i in &ids[1..3] {
        let Op::Constant(other) = m.op_mut(i) else { panic!("a constant") };
        assert!(other.literal.share_storage(&first.literal));
    }
    let plan = assign(&m, expand(&m, Vec::new()).unwrap(), u64::MAX).unwrap();
    assert_eq!(lines(&m, &plan.steps), ["O0 = C0", "O1 = C0", "O2 = C1", "O3 = C2"]);
    let words = |n: usize| plan.constants[n].bytes.iter().step_by(4).copied().collect::<Vec<_>>();
    assert_eq!([words(0), words(1), words(2)], [[1, 2, 3, 4], [1, 3, 2, 4], [1, 2, 3, 4]]);
}

const COUNT: &str = "HloModule m\n\
    cond { s = (s32[], f32[16], f32[16]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
      n = s32[] constant(10)\n ROOT lt = pred[] compare(i, n), direction=LT\n}\n\
    body { s = (s32[], f32[16], f32[16]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
      x = f32[16] get-tuple-element(s), index=1\n w = f32[16] get-tuple-element(s), index=2\n \
      one = s32[] constant(1)\n j = s32[] add(i, one)\n y = f32[16] multiply(x, w)\n \
      ROOT t = (s32[], f32[16], f32[16]) tuple(j, y, w)\n}\n\
    ENTRY e { a = f32[16] parameter(0)\n w = f32[16] parameter(1)\n z = s32[] constant(0)\n \
      t = (s32[], f32[16], f32[16]) tuple(z, a, w)\n \
      l = (s32[], f32[16], f32[16]) while(t), condition=cond, body=body\n \
      ROOT r = f32[16] get-tuple-element(l), index=1\n}\n";

#[test]
fn loop_state_is_updated_in_place_and_what_does_not_change_is_not_copied() {
    check(
        COUNT,
        &[
            "A0 = C0",
            "O0 = P0",
            "while",
            "  lt(A0, -) -> A16",
            "do if A16",
            "  j(A0, -) -> A0",
            "  y(O0, P1) -> O0",
        ],
    );
}

#[test]
fn several_results_of_a_fusion_take_the_places_of_the_state_that_it_reads() {
    check(
        "HloModule m\n\
         fused { x = f32[16] parameter(0)\n y = f32[16] parameter(1)\n a = f32[16] add(x, y)\n \
           b = f32[16] multiply(x, y)\n ROOT t = (f32[16], f32[16]) tuple(a, b)\n}\n\
         cond { s = (s32[], f32[16], f32[16]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
           k = s32[] constant(3)\n ROOT lt = pred[] compare(i, k), direction=LT\n}\n\
         body { s = (s32[], f32[16], f32[16]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
           x = f32[16] get-tuple-element(s), index=1\n y = f32[16] get-tuple-element(s), index=2\n \
           one = s32[] constant(1)\n j = s32[] add(i, one)\n \
           f = (f32[16], f32[16]) fusion(x, y), kind=kLoop, calls=fused\n \
           u = f32[16] get-tuple-element(f), index=0\n v = f32[16] get-tuple-element(f), index=1\n \
           ROOT t = (s32[], f32[16], f32[16]) tuple(j, u, v)\n}\n\
         ENTRY e { z = s32[] constant(0)\n a = f32[16] parameter(0)\n b = f32[16] parameter(1)\n \
           t = (s32[], f32[16], f32[16]) tuple(z, a, b)\n \
           ROOT l = (s32[], f32[16], f32[16]) while(t), condition=cond, body=body\n}\n",
        &[
            "O0 = C0",
            "O1 = P0",
            "O2 = P1",
            "while",
            "  lt(O0, -) -> A0",
            "do if A0",
            "  j(O0, -) -> O0",
            "  f(O1, O2) -> O1, O2",
        ],
    );
}

#[test]
fn a_swap_goes_by_way_of_a_temporary() {
    check(
        "HloModule m\n\
         cond { s = (f32[4], f32[4]) parameter(0)\n x = f32[4] get-tuple-element(s), index=0\n \
           b = f32[1] slice(x), slice={[0:1]}\n c = f32[] reshape(b)\n k = f32[] constant(3)\n \
           ROOT lt = pred[] compare(c, k), direction=LT\n}\n\
         body { s = (f32[4], f32[4]) parameter(0)\n x = f32[4] get-tuple-element(s), index=0\n \
           y = f32[4] get-tuple-element(s), index=1\n ROOT t = (f32[4], f32[4]) tuple(y, x)\n}\n\
         ENTRY e { a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n t = (f32[4], f32[4]) tuple(a, b)\n \
           ROOT l = (f32[4], f32[4]) while(t), condition=cond, body=body\n}\n",
        &[
            "O0 = P0",
            "O1 = P1",
            "while",
            "  b(O0) -> A0",
            "  lt(A0, -) -> A16",
            "do if A16",
            "  A0 = O0",
            "  O0 = O1",
            "  O1 = A0",
        ],
    );
}

#[test]
fn fibonacci_needs_one_temporary() {
    check(
        "HloModule m\n\
         cond { s = (s64[], s64[]) parameter(0)\n x = s64[] get-tuple-element(s), index=0\n \
           k = s64[] constant(1000)\n ROOT lt = pred[] compare(x, k), direction=LT\n}\n\
         body { s = (s64[], s64[]) parameter(0)\n x = s64[] get-tuple-element(s), index=0\n \
           y = s64[] get-tuple-element(s), index=1\n z = s64[] add(x, y)\n ROOT t = (s64[], s64[]) tuple(y, z)\n}\n\
         ENTRY e { a = s64[] parameter(0)\n t = (s64[], s64[]) tuple(a, a)\n \
           ROOT l = (s64[], s64[]) while(t), condition=cond, body=body\n}\n",
        &[
            "O0 = P0",
            "O1 = P0",
            "while",
            "  lt(O0, -) -> A0",
            "do if A0",
            "  z(O0, O1) -> A0",
            "  O0 = O1",
            "  O1 = A0",
        ],
    );
}

#[test]
fn an_update_in_a_loop_is_in_place_after_the_readers_of_the_old_value() {
    check(
        "HloModule m\n\
         cond { s = (s32[], f32[100]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
           n = s32[] constant(10)\n ROOT lt = pred[] compare(i, n), direction=LT\n}\n\
         body { s = (s32[], f32[100]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
           x = f32[100] get-tuple-element(s), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n \
           u = f32[1] constant({7})\n v = f32[100] dynamic-update-slice(x, u, i)\n \
           p = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}\n \
           q = f32[100] dynamic-update-slice(v, p, i)\n ROOT t = (s32[], f32[100]) tuple(j, q)\n}\n\
         ENTRY e { a = f32[100] parameter(0)\n z = s32[] constant(0)\n t = (s32[], f32[100]) tuple(z, a)\n \
           l = (s32[], f32[100]) while(t), condition=cond, body=body\n \
           ROOT r = f32[100] get-tuple-element(l), index=1\n}\n",
        &[
            "A0 = C0",
            "O0 = P0",
            "while",
            "  lt(A0, -) -> A16",
            "do if A16",
            "  j(A0, -) -> A16",
            "  p(O0, A16) -> A32",
            "  v(O0, C1, A0) -> O0",
            "  q(O0, A32, A0) -> O0",
            "  A0 = A16",
        ],
    );
}

#[test]
fn an_update_of_a_value_that_is_read_later_copies_it_first() {
    check(
        "HloModule m\nENTRY e {\n a = f32[100] parameter(0)\n i = s32[] parameter(1)\n n = f32[100] negate(a)\n \
         u = f32[1] constant({7})\n v = f32[100] dynamic-update-slice(n, u, i)\n \
         ROOT s = f32[100] subtract(v, n)\n}\n",
        &["n(P0) -> A0", "O0 = A0", "v(O0, C0, P1) -> O0", "s(O0, A0) -> O0"],
    );
}

#[test]
fn branches_compute_in_the_result_and_hand_on_what_they_share() {
    check(
        "HloModule m\n\
         t { a = (f32[8], f32[8]) parameter(0)\n x = f32[8] get-tuple-element(a), index=0\n \
           y = f32[8] get-tuple-element(a), index=1\n n = f32[8] negate(x)\n ROOT r = (f32[8], f32[8]) tuple(n, y)\n}\n\
         f { a = (f32[8], f32[8]) parameter(0)\n ROOT b = (f32[8], f32[8]) opt-barrier(a)\n}\n\
         ENTRY e { p = pred[] parameter(0)\n x = f32[8] parameter(1)\n y = f32[8] parameter(2)\n \
           a = (f32[8], f32[8]) tuple(x, y)\n \
           c = (f32[8], f32[8]) conditional(p, a, a), true_computation=t, false_computation=f\n \
           u = f32[8] get-tuple-element(c), index=0\n v = f32[8] get-tuple-element(c), index=1\n \
           ROOT s = f32[8] add(u, v)\n}\n",
        &["case P0 = 0", "  n(P1) -> O0", "case P0 = 1", "  O0 = P1", "s(O0, P2) -> O0"],
    );
}

#[test]
fn calls_are_expanded_in_place_each_with_its_own_buffers() {
    check(
        "HloModule m\n\
         f { x = f32[8] parameter(0)\n n = f32[8] negate(x)\n ROOT t = f32[8] reverse(n), dimensions={0}\n}\n\
         ENTRY e { a = f32[8] parameter(0)\n x = f32[8] call(a), to_apply=f\n y = f32[8] call(x), to_apply=f\n \
           ROOT s = f32[8] add(x, y)\n}\n",
        &["n(P0) -> A0", "t(A0) -> O0", "n(O0) -> A0", "t(A0) -> A32", "s(O0, A32) -> O0"],
    );
}

#[test]
fn large_products_are_calls_with_loops_around_what_can_not_be_merged() {
    let (m, p) = plan(
        "HloModule m\nENTRY e {\n a = f32[2,32,4,16] parameter(0)\n b = f32[2,32,4,16] parameter(1)\n \
         ROOT d = f32[2,4,32,32] dot(a, b), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, \
         lhs_contracting_dims={3}, rhs_contracting_dims={3}\n}\n",
    );
    assert_eq!(lines(&m, &p.steps), ["d[1](P0, P1) -> O0"]);
    let Step::Runtime(r) = &p.steps[0] else { panic!("a runtime call") };
    // The element type is f32. The batch of 4 are the heads, each a product 32 × 16 · 16 × 32 with the
    // strides of the heads inside.
    assert_eq!(r.descriptor, [12, 12, 12, 4, 32, 32, 16, 16, 64, 1, 16, 1, 64, 1024, 32, 1]);
    assert_eq!((r.loops[0].count, &r.loops[0].strides[..]), (2, &[8192, 8192, 16384][..]));
}

#[test]
fn the_peak_is_what_lives_at_the_same_time() {
    let (_, p) = plan(
        "HloModule m\nENTRY e {\n a = f32[256] parameter(0)\n b = f32[256] reverse(a), dimensions={0}\n \
         c = f32[256] reverse(b), dimensions={0}\n d = f32[256] reverse(c), dimensions={0}\n \
         f = f32[256] reverse(d), dimensions={0}\n ROOT g = f32[256] reverse(f), dimensions={0}\n}\n",
    );
    assert_eq!(p.arena_bytes, 2048);
}

#[test]
fn too_much_memory_is_refused_with_the_largest_values() {
    let m = module(
        "HloModule m\nENTRY e {\n c = f32[] constant(1)\n big = f32[1048576,1048576,256] broadcast(c), dimensions={}\n \
         n = f32[1048576,1048576,256] negate(big)\n z = f32[] constant(0)\n \
         ROOT s = f32[1] slice(n), slice={[0:1]}\n}\n"
            .replace("ROOT s = f32[1] slice(n), slice={[0:1]}", "ROOT r = f32[1048576,1048576,256] abs(n)")
            .as_str(),
    );
    let error = assign(&m, expand(&m, Vec::new()).unwrap(), 1 << 40).unwrap_err();
    assert!(error.message.contains("1.0 PiB"), "{}", error.message);
    assert!(error.notes[0].contains("takes 1.0 PiB"), "{:?}", error.notes);
}

/// A donated parameter is updated in the memory of its result. The only copy left is the one for a parameter
/// that is elsewhere.
#[test]
fn what_is_given_away_is_updated_in_the_result() {
    let m = module(
        "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  a = f32[1000] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[1000] dynamic-update-slice(a, u, i)
}",
    );
    let m = hlo_ir::verify::Verified::new(&m).unwrap();
    let plan = hlo_plan::plan_with_donations(m, u64::MAX).unwrap();
    assert_eq!(plan.arena_bytes, 0);
    let copies = plan.steps.iter().filter(|s| match s {
        Step::Copy { from, to, .. } => from != to,
        _ => false,
    });
    let copies: Vec<_> = copies.collect();
    let [Step::Copy { from: BufferRef::Param(0), to: BufferRef::Output(0), bytes: 4000 }] = copies[..] else {
        panic!("{:?}", plan.steps)
    };
    assert_eq!(hlo_plan::plan(m, u64::MAX).unwrap().donations, []);
}
