//! Every element type in every kind of loop that the code generator emits, compared with the interpreter:
//! flat and nested loops, tiled transpositions, rows, columns, updates and scatters in place, gathers,
//! windows, products. Sizes vary with the type. Values are small integers, so that results are exact and can
//! be compared bit for bit.

use crate::module;
use hlo_codegen::{CompileOptions, compile};
use hlo_ir::verify::Verified;
use hlo_ir::{ElementType, Literal, Module, Shape};
use hlo_testing::Numbers;
use std::fmt::Write;

fn evaluate(m: &Module, inputs: &[Literal]) -> Literal {
    hlo_eval::evaluate(m, inputs, &hlo_eval::Options::default()).unwrap()
}

/// Returns an array of small integers, of any element type.
fn input(shape: &Shape, numbers: &mut Numbers) -> Literal {
    let array = shape.as_array().unwrap();
    let dims: Vec<String> = array.dims.iter().map(i64::to_string).collect();
    let (ty, dims) = (array.element_type, dims.join(","));
    let root = if ty.is_complex() {
        let part = ty.real_type();
        format!(
            " x = {part}[{dims}] convert(a)\n y = {part}[{dims}] convert(b)\n ROOT r = {ty}[{dims}] complex(x, y)"
        )
    } else {
        format!(" ROOT r = {ty}[{dims}] convert(a)")
    };
    let text = format!(
        "HloModule m\nENTRY e {{\n a = s32[{dims}] parameter(0)\n b = s32[{dims}] parameter(1)\n{root}\n}}\n"
    );
    // Type f8e8m0fnu contains only powers of two, which the other types contain too.
    let mut ints = || {
        let v: Vec<i32> = (0..array.element_count()).map(|_| [1, 2, 1, 4][numbers.below(4)] % 4).collect();
        let v: Vec<i32> =
            v.into_iter().map(|v| if v == 0 && ty == ElementType::F8E8M0Fnu { 4 } else { v }).collect();
        Literal::from_elements(Shape::array(ElementType::S32, array.dims.iter().copied()), &v)
    };
    evaluate(&module(&text), &[ints(), ints()])
}

/// Returns the text of a module that has a result for each kind of loop.
fn text(ty: ElementType, numbers: &mut Numbers) -> String {
    let (rows, columns) = (17 + numbers.below(30), 17 + numbers.below(40));
    let t = ty.name();
    let exact_sums = !ty.is_float() || ty.bit_width() >= 16;
    let (sum, product) = match ty {
        ElementType::Pred => ("or", "and"),
        _ if exact_sums => ("add", "multiply"),
        _ => ("maximum", "minimum"),
    };
    let neutral = match ty {
        ElementType::Pred => "false",
        ElementType::F8E8M0Fnu => "0.5",
        _ if ty.is_complex() => "(0, 0)",
        _ => "0",
    };
    let mut out = format!(
        "HloModule m\n\
         sum {{\n x = {t}[] parameter(0)\n y = {t}[] parameter(1)\n ROOT r = {t}[] {sum}(x, y)\n}}\n\
         second {{\n x = {t}[] parameter(0)\n ROOT y = {t}[] parameter(1)\n}}\n\
         flat {{\n a = {t}[{rows},{columns}] parameter(0)\n b = {t}[{rows},{columns}] parameter(1)\n \
         s = {t}[{rows},{columns}] {sum}(a, b)\n ROOT r = {t}[{rows},{columns}] {product}(s, a)\n}}\n\
         tiled {{\n a = {t}[{rows},{columns}] parameter(0)\n b = {t}[{columns},{rows}] parameter(1)\n \
         v = {t}[{columns},{rows}] transpose(a), dimensions={{1,0}}\n ROOT r = {t}[{columns},{rows}] {sum}(v, b)\n}}\n\
         rows {{\n a = {t}[{rows},{columns}] parameter(0)\n z = {t}[] constant({neutral})\n \
         s = {t}[{rows}] reduce(a, z), dimensions={{1}}, to_apply=sum\n \
         w = {t}[{rows},{columns}] broadcast(s), dimensions={{0}}\n ROOT r = {t}[{rows},{columns}] {product}(w, a)\n}}\n\
         update {{\n a = {t}[{rows},{columns}] parameter(0)\n u = {t}[3,5] parameter(1)\n i = s32[] parameter(2)\n \
         v = {t}[3,5] {sum}(u, u)\n ROOT r = {t}[{rows},{columns}] dynamic-update-slice(a, v, i, i)\n}}\n\
         ENTRY e {{\n a = {t}[{rows},{columns}] parameter(0)\n b = {t}[{rows},{columns}] parameter(1)\n \
         u = {t}[3,5] parameter(2)\n i = s32[] parameter(3)\n k = s32[9,1] parameter(4)\n l = {t}[{columns},{rows}] parameter(5)\n \
         z = {t}[] constant({neutral})\n v = {t}[9,{columns}] parameter(6)\n large = {t}[256,200] parameter(7)\n"
    );
    let mut results = Vec::new();
    let mut result = |shape: String, op: String| {
        let name = format!("r{}", results.len());
        let _ = writeln!(out, " {name} = {shape} {op}");
        results.push((name, shape));
    };
    let whole = format!("{t}[{rows},{columns}]");
    for kernel in ["flat(a, b)", "tiled(a, l)", "rows(a)", "update(a, u, i)"] {
        let (name, operands) = kernel.split_once('(').unwrap_or((kernel, ")"));
        let shape = if name == "tiled" { format!("{t}[{columns},{rows}]") } else { whole.clone() };
        result(shape, format!("fusion({operands}, kind=kLoop, calls={name}"));
    }
    result(format!("{t}[{columns}]"), "reduce(a, z), dimensions={0}, to_apply=sum".into());
    result(format!("{t}[{rows}]"), "reduce(a, z), dimensions={1}, to_apply=sum".into());
    // So few elements that their sum needs no more digits than bf16 has.
    result(format!("{t}[]"), "reduce(u, z), dimensions={0,1}, to_apply=sum".into());
    result(whole.clone(), "dynamic-update-slice(a, u, i, i)".into());
    result(format!("{t}[3,5]"), "dynamic-slice(a, i, i), dynamic_slice_sizes={3,5}".into());
    for combine in ["sum", "second"] {
        result(
            whole.clone(),
            format!(
                "scatter(a, k, v), update_window_dims={{1}}, inserted_window_dims={{0}}, \
                 scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={combine}"
            ),
        );
    }
    result(
        format!("{t}[9,{columns}]"),
        format!(
            "gather(a, k), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, \
             slice_sizes={{1,{columns}}}"
        ),
    );
    result(format!("{t}[{},{}]", rows + 3, 2 * columns + 1), "pad(a, z), padding=1_2x1_1_1".into());
    result(format!("{t}[{rows},{}]", 2 * columns), "concatenate(a, b), dimensions={1}".into());
    result(whole.clone(), "reverse(a), dimensions={0,1}".into());
    result(format!("{t}[{columns},{rows}]"), "reshape(a)".into());
    result(format!("{t}[200,256]"), "transpose(large), dimensions={1,0}".into());
    result(format!("{t}[256,200]{{0,1}}"), "copy(large)".into());
    result(
        format!("{t}[{},{columns}]", rows - 1),
        "reduce-window(a, z), window={size=2x3 pad=0_0x1_1}, to_apply=sum".into(),
    );
    result(format!("pred[{rows},{columns}]"), "compare(a, b), direction=EQ".into());
    result(whole.clone(), "select(q, a, b)".into());
    result(format!("s32[{rows},{columns}]"), "bitcast-convert(w)".into());
    if exact_sums && ty != ElementType::Pred {
        result(
            format!("{t}[{rows},{rows}]"),
            "dot(a, l), lhs_contracting_dims={1}, rhs_contracting_dims={0}".into(),
        );
        result(format!("{t}[3,3]"), "dot(u, u), lhs_contracting_dims={1}, rhs_contracting_dims={1}".into());
    }
    let (names, shapes): (Vec<String>, Vec<String>) = results.into_iter().unzip();
    let _ = write!(out, " ROOT all = ({}) tuple({})\n}}\n", shapes.join(", "), names.join(", "));
    // Operands of the selection and of the bit conversion, defined before their use.
    let before = format!(
        " q = pred[{rows},{columns}] compare(a, b), direction=NE\n f = f32[{rows},{columns}] iota(), iota_dimension=1\n \
         w = f32[{rows},{columns}] negate(f)\n r0 = "
    );
    out.replacen(" r0 = ", &before, 1)
}

fn check(ty: ElementType) {
    let mut numbers = Numbers::new(u64::from(ty.bit_width()) << 7 ^ ty.name().len() as u64);
    let text = text(ty, &mut numbers);
    let m = module(&text);
    let inputs: Vec<Literal> =
        m.parameters(m.entry()).into_iter().map(|p| input(&m[p].shape, &mut numbers)).collect();
    let want = evaluate(&m, &inputs);
    let buffers: Vec<&[u8]> = inputs.iter().map(Literal::bytes).collect();
    for threads in [1, 2] {
        let executable = compile(m.as_ref(), &CompileOptions { threads, ..CompileOptions::default() })
            .unwrap_or_else(|e| panic!("{ty}: {e:?}"));
        let got = executable.run(&buffers).unwrap();
        for (n, (got, want)) in got.iter().zip(want.leaves()).enumerate() {
            let shape = executable.result().leaves()[n].as_array().unwrap().clone();
            let want =
                if shape.is_row_major() { want.bytes().to_vec() } else { transposed(want.bytes(), &shape) };
            let (got, want) = (unsigned_zeros(ty, got), unsigned_zeros(ty, &want));
            let differs = got.iter().zip(&want).position(|(g, w)| g != w);
            assert_eq!((got.len(), differs), (want.len(), None), "{ty}: result {n} of shape {shape}\n{text}");
        }
    }
}

/// Clears the sign of zeros. Complex products may be sums of differences or differences of sums, so that the
/// sign of a zero that results from cancellation is unspecified.
fn unsigned_zeros(ty: ElementType, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if ty.is_complex() {
        for part in out.chunks_exact_mut(ty.real_type().byte_size()) {
            if let Some((sign @ 0x80, rest)) = part.split_last_mut()
                && rest.iter().all(|&b| b == 0)
            {
                *sign = 0;
            }
        }
    }
    out
}

/// Returns the row-major bytes of a matrix column by column.
fn transposed(bytes: &[u8], shape: &hlo_ir::ArrayShape) -> Vec<u8> {
    let size = shape.element_type.byte_size();
    let (rows, columns) = (shape.dims[0] as usize, shape.dims[1] as usize);
    let element = |n: usize| &bytes[(n % rows * columns + n / rows) * size..][..size];
    (0..rows * columns).flat_map(|n| element(n).to_vec()).collect()
}

#[test]
fn integers_and_booleans() {
    for &ty in ElementType::ALL.iter().filter(|t| !t.is_float() && !t.is_complex()) {
        check(ty);
    }
}

#[test]
fn wide_floats_and_complex_numbers() {
    for &ty in ElementType::ALL.iter().filter(|t| t.is_complex() || (t.is_float() && t.bit_width() >= 16)) {
        check(ty);
    }
}

#[test]
fn narrow_floats() {
    for &ty in ElementType::ALL.iter().filter(|t| t.is_float() && t.bit_width() < 16) {
        check(ty);
    }
}

#[test]
fn products_of_one_type_with_results_of_another() {
    let types =
        ["bf16", "f16", "f32", "f64", "s8", "u8", "s4", "u4", "s16", "s32", "f8e4m3fn", "f8e5m2", "c64"];
    let results = |lhs: &str| match lhs {
        "bf16" | "f16" | "f8e4m3fn" | "f8e5m2" => vec!["f32", "bf16"],
        "f32" => vec!["f64"],
        "f64" => vec!["f32"],
        "c64" => vec!["c128"],
        _ => vec!["s32", "f32"],
    };
    for lhs in types {
        for to in results(lhs) {
            let text = format!(
                "HloModule m\nENTRY e {{\n a = {lhs}[12,10] parameter(0)\n b = {lhs}[10,14] parameter(1)\n c = {lhs}[2,2] parameter(2)\n \
                 x = {to}[12,14] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n \
                 y = {to}[2,2] dot(c, c), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}\n \
                 ROOT r = ({to}[12,14], {to}[2,2]) tuple(x, y)\n}}\n"
            );
            let m = hlo_parser::parse_module(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
            let Ok(m) = Verified::new(m) else { continue };
            let mut numbers = Numbers::new(7);
            let inputs: Vec<Literal> =
                m.parameters(m.entry()).into_iter().map(|p| input(&m[p].shape, &mut numbers)).collect();
            let want = evaluate(&m, &inputs);
            let buffers: Vec<&[u8]> = inputs.iter().map(Literal::bytes).collect();
            let executable = compile(m.as_ref(), &CompileOptions { threads: 1, ..CompileOptions::default() })
                .unwrap_or_else(|e| panic!("{text}{e:?}"));
            let got = executable.run(&buffers).unwrap();
            for (got, want) in got.iter().zip(want.leaves()) {
                let ty = want.shape().as_array().unwrap().element_type;
                assert!(unsigned_zeros(ty, got) == unsigned_zeros(ty, want.bytes()), "{text}");
            }
        }
    }
}
