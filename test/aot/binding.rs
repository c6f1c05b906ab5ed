mod pure {
    include!("PURE");
}
#[path = "MLP"]
mod mlp;

fn main() {
    let zeros = pure::Aligned([0f32; 1000]);
    let mut sum = pure::Aligned([7f32; 1000]);
    let arguments = pure::Arguments { Arg_0_1: &zeros, float_: &zeros };
    let mut results = pure::Results { result: &mut sum };
    pure::run(&arguments, &mut results, &mut pure::Arena::new()).unwrap();

    let ones = mlp::Aligned([1f32; 512]);
    let (w1, b1, w2) = (mlp::Aligned([0f32; 8192]), mlp::Aligned([0.5f32; 128]), mlp::Aligned([1f32; 1280]));
    let mut out = [0f32; 2];
    let mut memory = vec![std::mem::MaybeUninit::uninit(); size_of::<mlp::Arena>() + 64];
    let start = memory.as_ptr().align_offset(64);
    assert!(mlp::Arena::in_memory(&mut memory[start + 1..]).is_none());
    let arena = mlp::Arena::in_memory(&mut memory[start..]).unwrap();
    for (n, context) in [None, mlp::Context::new(2)].into_iter().enumerate() {
        let mut product = mlp::Aligned([0f32; 80]);
        let arguments = mlp::Arguments { x: &ones, w1: &w1, b1: &b1, w2: &w2 };
        let mut results = mlp::Results { result: &mut product };
        mlp::run(&arguments, &mut results, arena, context.as_ref()).unwrap();
        out[n] = product.0[79];
    }
    println!("{} {} {}", sum.0[999], out[0], out[1]);
}
