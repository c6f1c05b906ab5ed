//! Padding never affects results: random modules on arrays of dynamic sizes produce the same results on
//! padded arrays as on arrays of the actual sizes. The padding is NaN. `HLO_SEEDS=N` tries N modules, from
//! seed `HLO_SEED` on.

use hlo_eval::{Options, evaluate};
use hlo_ir::{ElementType, Literal, Module, Shape};
use hlo_passes::{LOWERING, Pipeline};
use hlo_testing::dynamic::dynamic_module;

fn parse(text: &str) -> Module {
    let module = hlo_parser::parse_module(text).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message));
    let wrong = hlo_ir::verify::verify(&module);
    assert!(wrong.is_empty(), "{}\n{text}", wrong[0].message);
    module
}

/// Returns the seeds to try.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("HLO_SEED").unwrap_or(0);
    first..first + number("HLO_SEEDS").unwrap_or(few)
}

/// Pads an input with NaN to its bounds, and appends its sizes to `sizes`.
fn pad(input: &Literal, bounds: &Shape, sizes: &mut Vec<Literal>) -> Literal {
    let (Some(bounds), Some(real)) = (bounds.as_array(), input.shape().as_array()) else {
        return input.clone();
    };
    if bounds.is_static() {
        return input.clone();
    }
    let sizes_of = |d: usize| Literal::scalar(ElementType::S32, real.dims[d] as i32);
    sizes.extend((0..real.rank()).filter(|&d| bounds.is_dynamic_dim(d)).map(sizes_of));
    let mut padded = input.resized(&bounds.dims).unwrap();
    let ones = Literal::from_elements(
        Shape::array(ElementType::F32, real.dims.clone()),
        &vec![1f32; real.element_count()],
    );
    let inside = ones.resized(&bounds.dims).unwrap();
    for (x, &is_inside) in padded.elements_mut::<f32>().iter_mut().zip(inside.elements::<f32>()) {
        if is_inside == 0.0 {
            *x = f32::NAN;
        }
    }
    padded
}

fn check(seed: u64) {
    let made = dynamic_module(seed);
    let mut module = parse(&made.text);
    let inputs: Vec<Literal> = made
        .inputs
        .iter()
        .map(|i| hlo_parser::parse_literal(i).unwrap_or_else(|d| panic!("{}", d[0].message)))
        .collect();
    let what = |e: &str| format!("seed {seed}: {e}\n{}\n{:?}", made.text, made.inputs);
    let options = Options::default();
    let want = evaluate(&module, &inputs, &options);
    if let (Err(e), false) = (&want, made.may_fail) {
        panic!("{}", what(&e.message));
    }

    let shapes: Vec<Shape> =
        module.parameters(module.entry()).iter().map(|&p| module[p].shape.clone()).collect();
    let declared = module[module[module.entry()].root()].shape.clone();
    let mut sizes = Vec::new();
    let mut padded: Vec<Literal> = inputs.iter().zip(&shapes).map(|(i, s)| pad(i, s, &mut sizes)).collect();
    padded.extend(sizes);
    Pipeline::parse(LOWERING)
        .and_then(|p| p.run(&mut module, &mut ()).map_err(|mut d| d.remove(0)))
        .unwrap_or_else(|d| panic!("{}", what(&d.message)));
    let wrong = hlo_ir::verify::verify(&module);
    assert!(wrong.is_empty(), "{}", what(&wrong[0].message));
    let got = evaluate(&module, &padded, &options).unwrap_or_else(|e| panic!("{}", what(&e.message)));
    let mut leaves = got.leaves().into_iter().cloned();
    let arrays: Vec<Literal> = leaves.by_ref().take(declared.leaf_count()).collect();
    let mut dims: Vec<Vec<i64>> =
        declared.leaves().iter().map(|s| s.as_array().unwrap().dims.to_vec()).collect();
    for (leaf, d) in declared.dynamic_dimensions() {
        dims[leaf][d] = leaves.next().unwrap().integer_at(0).unwrap() as i64;
    }
    let fits = leaves.next().unwrap().integer_at(0) == Some(1);
    let want = match want {
        Err(e) => return assert!(!fits, "{}", what(&format!("it must fail: {}", e.message))),
        Ok(want) => want,
    };
    assert!(fits, "{}", what("sizes do not fit"));
    for (k, ((got, want), dims)) in arrays.iter().zip(want.leaves()).zip(dims).enumerate() {
        let got = got.resized(&dims).unwrap();
        let same = got.shape().compatible(want.shape())
            && got.elements::<f32>().iter().zip(want.elements::<f32>()).all(|(g, w)| g == w);
        assert!(same, "{}", what(&format!("result {k} is\n{got:?}, not\n{want:?}")));
    }
}

#[test]
fn padding_never_gets_into_results() {
    seeds(500).for_each(check);
}
