//! Programs that a client compiles once.

use hlo_client::{Client, ClientOptions, CompileOptions, ENGINES, Engine, Passes, PolymorphicExecutable};
use hlo_ir::{ElementType, Literal, Shape};

const DOUBLE: &str = "HloModule m ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }";

#[test]
fn a_polymorphic_program_is_compiled_once_for_each_list_of_shapes() {
    let text = "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
        %y = stablehlo.add %x, %x : tensor<?x2xf32>
        return %y : tensor<?x2xf32>
    }";
    let tree = hlo_stablehlo::text::parse(text).unwrap();
    let hlo_stablehlo::Program::Polymorphic(program) = hlo_stablehlo::Program::new(tree, None).unwrap()
    else {
        panic!("its sizes are known");
    };
    for engine in ENGINES {
        let client = Client::local();
        let options = CompileOptions { engine: Some(*engine), ..CompileOptions::default() };
        let double = PolymorphicExecutable::new(client.clone(), (*program).clone(), options);
        for rows in [1, 3, 1, 3, 2] {
            let ones = Literal::from_elements(
                Shape::array(ElementType::F32, [rows, 2]),
                &vec![1f32; 2 * rows as usize],
            );
            assert_eq!(double.run(&[ones]).unwrap().elements::<f32>(), vec![2f32; 2 * rows as usize]);
        }
        assert_eq!(client.cache_statistics().misses, 3);
        let wrong = Literal::from_elements(Shape::array(ElementType::F32, [1, 3]), &[0f32; 3]);
        let error = double.run(&[wrong]).unwrap_err().to_string();
        assert!(error.contains("argument 0 is of type tensor<?x2xf32>, but f32[1,3] is given"), "{error}");
    }
}

#[test]
fn the_same_text_with_the_same_options_is_compiled_once() {
    let client = Client::local();
    let options = CompileOptions::default();
    let first = client.compile_text(DOUBLE, &options).unwrap();
    // A default value gives the same key as an option that is not set.
    client.compile_text(DOUBLE, &CompileOptions { engine: Some(ENGINES[0]), ..options.clone() }).unwrap();
    assert_eq!(client.cache_statistics().hits, 1);
    let others = [
        CompileOptions {
            engine: Some(Engine::Interpreted),
            passes: Passes::Pipeline("dce".into()),
            ..options.clone()
        },
        CompileOptions { seed: 1, ..options.clone() },
        CompileOptions { threads: 1, ..options.clone() },
        CompileOptions { memory_limit: Some(1 << 30), ..options.clone() },
        CompileOptions { donation: true, ..options.clone() },
        CompileOptions { optimize: false, ..options.clone() },
        CompileOptions { passes: Passes::Lowering, ..options.clone() },
        CompileOptions { passes: Passes::Pipeline("cse".into()), ..options.clone() },
        CompileOptions { passes: Passes::Pipeline("cse,dce".into()), ..options.clone() },
    ];
    let count = others.len() as u64 + 1;
    for other in &others {
        client.compile_text(DOUBLE, other).unwrap();
    }
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.misses, statistics.programs), (1, count, count as usize));
    // The key of a module depends on its contents.
    let module = hlo_parser::parse_module(DOUBLE).unwrap();
    client.compile(&module, &options).unwrap();
    client.compile(&module.clone(), &options).unwrap();
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.misses), (2, count + 1));
    assert_eq!(first.run(&[Literal::r1(&[1f32, 2., 3., 4.])]).unwrap().elements::<f32>(), [2., 4., 6., 8.]);
}

#[test]
fn a_program_that_several_threads_ask_for_is_compiled_once() {
    let client = Client::local();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| client.compile_text(DOUBLE, &CompileOptions::default()).unwrap());
        }
    });
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.misses), (7, 1));
}

#[test]
fn failures_are_not_kept_and_the_oldest_program_goes_first() {
    let client = Client::new(&ClientOptions { cached_programs: 2, ..ClientOptions::default() }).unwrap();
    let options = CompileOptions { engine: Some(Engine::Interpreted), ..CompileOptions::default() };
    for _ in 0..2 {
        assert!(client.compile_text("HloModule", &options).is_err());
    }
    assert_eq!(client.cache_statistics().programs, 0);
    let text = |n: usize| format!("HloModule m{n} ENTRY e {{ ROOT c = s32[] constant({n}) }}");
    for n in [1, 2, 1, 3, 1, 2] {
        let program = client.compile_text(&text(n), &options).unwrap();
        assert_eq!(program.run(&[]).unwrap().get::<i32>(&[]), Some(n as i32));
    }
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.programs), (2, 2));
    let none = Client::new(&ClientOptions { cached_programs: 0, ..ClientOptions::default() }).unwrap();
    none.compile_text(&text(1), &options).unwrap();
    none.compile_text(&text(1), &options).unwrap();
    assert_eq!(none.cache_statistics(), Default::default());
}

#[test]
fn programs_that_hold_much_are_kept_as_far_as_there_is_room() {
    let client =
        Client::new(&ClientOptions { cached_program_bytes: 5000, ..ClientOptions::default() }).unwrap();
    let options = CompileOptions { engine: Some(Engine::Interpreted), ..CompileOptions::default() };
    let text = |n: usize, size: usize| {
        let elements = vec![n.to_string(); size].join(",");
        format!("HloModule m ENTRY e {{ ROOT c = s32[{size}] constant({{{elements}}}) }}")
    };
    for n in 0..4 {
        client.compile_text(&text(n, 500), &options).unwrap();
        assert_eq!(client.cache_statistics().programs, (n + 1).min(2));
    }
    client.compile_text(&text(0, 2000), &options).unwrap();
    assert_eq!(client.cache_statistics().programs, 2);
}
