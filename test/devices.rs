//! Collectives on several devices: every operation with every form of groups, on every family of element types, by both
//! engines, against what the semantics say, written out with whole numbers.

use hlo_client::{Client, ClientOptions, CompileOptions, ENGINES, Engine};
use hlo_ir::{ElementType, Literal, Shape};

/// Replicas and partitions.
const COUNTS: [(usize, usize); 7] = [(1, 1), (2, 1), (1, 3), (4, 1), (2, 2), (1, 8), (4, 2)];

/// Of each family one; all of them where there are two replicas of two partitions.
const TYPES: [ElementType; 12] = [
    ElementType::F32,
    ElementType::S32,
    ElementType::Bf16,
    ElementType::Pred,
    ElementType::F64,
    ElementType::F16,
    ElementType::F8E4M3Fn,
    ElementType::S4,
    ElementType::U8,
    ElementType::U64,
    ElementType::C64,
    ElementType::C128,
];

/// An array of whole numbers.
#[derive(Clone, Debug, PartialEq)]
struct Array {
    dims: [usize; 2],
    values: Vec<i64>,
}

impl Array {
    fn new(dims: [usize; 2], value: impl Fn(usize, usize) -> i64) -> Self {
        let values = (0..dims[0]).flat_map(|i| (0..dims[1]).map(move |j| (i, j)));
        Self { dims, values: values.map(|(i, j)| value(i, j)).collect() }
    }

    fn at(&self, i: usize, j: usize) -> i64 {
        self.values[i * self.dims[1] + j]
    }

    /// Piece `k` of `n` along a dimension.
    fn piece(&self, d: usize, k: usize, n: usize) -> Self {
        let mut dims = self.dims;
        dims[d] /= n;
        let first = k * dims[d];
        Self::new(dims, |i, j| if d == 0 { self.at(first + i, j) } else { self.at(i, first + j) })
    }

    /// Arrays put together along a dimension.
    fn joined(parts: &[Self], d: usize) -> Self {
        let size = parts[0].dims[d];
        let mut dims = parts[0].dims;
        dims[d] *= parts.len();
        Self::new(dims, |i, j| match d {
            0 => parts[i / size].at(i % size, j),
            _ => parts[j / size].at(i, j % size),
        })
    }

    /// Arrays combined element by element, in order.
    fn combined(parts: &[Self], f: impl Fn(i64, i64) -> i64) -> Self {
        let value = |i: usize, j: usize| parts.iter().map(|p| p.at(i, j)).reduce(&f).expect("a member");
        Self::new(parts[0].dims, value)
    }

    fn literal(&self, ty: ElementType) -> Literal {
        let dims = self.dims.map(|n| n as i64);
        let whole = Literal::from_elements(Shape::array(ElementType::S64, dims), &self.values);
        hlo_eval::convert(&whole, ty).expect("a conversion")
    }

    fn shape(&self, ty: ElementType) -> String {
        format!("{ty}[{},{}]", self.dims[0], self.dims[1])
    }
}

/// The array that a device has, with small numbers that fit every type.
fn given(device: usize, dims: [usize; 2], ty: ElementType) -> Array {
    let value = move |i: usize, j: usize| (device * 3 + i * 2 + j) as i64 % 5 + 1;
    Array::new(dims, |i, j| if ty == ElementType::Pred { value(i, j) % 2 } else { value(i, j) })
}

/// Attributes that name groups, and the groups.
type Form = (String, Vec<Vec<usize>>);

/// The forms that `all-reduce`, `reduce-scatter` and `all-gather` may have.
fn forms_with_global_ids(replicas: usize, partitions: usize) -> Vec<Form> {
    let mut forms = forms_of_replicas(replicas, partitions);
    let all: Vec<usize> = (0..replicas * partitions).collect();
    forms.push((", channel_id=NEXT, replica_groups={}".into(), vec![all.clone()]));
    let n = all.len();
    let global = ", channel_id=NEXT, use_global_device_ids=true, replica_groups=";
    let reversed: Vec<String> = all.iter().rev().map(usize::to_string).collect();
    forms
        .push((format!("{global}{{{{{}}}}}", reversed.join(",")), vec![all.iter().rev().copied().collect()]));
    if n.is_multiple_of(2) {
        let half = n / 2;
        let in_steps = |k: usize| (0..half).map(|i| 2 * i + k).collect();
        forms.push((format!("{global}[2,{half}]<=[{half},2]T(1,0)"), vec![in_steps(0), in_steps(1)]));
        forms.push((
            format!("{global}[{half},2]<=[{n}]"),
            (0..half).map(|i| vec![2 * i, 2 * i + 1]).collect(),
        ));
        if half > 1 {
            let columns = (0..half).map(|i| vec![i, half + i]).collect();
            forms.push((format!("{global}mesh['a'=2,'b'={half}] {{'a'}}"), columns));
        }
    }
    forms
}

/// The forms without a channel: the numbers are replicas.
fn forms_of_replicas(replicas: usize, partitions: usize) -> Vec<Form> {
    let device = |r: usize, p: usize| r * partitions + p;
    let all = |p: usize| (0..replicas).map(|r| device(r, p)).collect::<Vec<usize>>();
    let mut forms = vec![(String::new(), (0..partitions).map(all).collect::<Vec<_>>())];
    let numbers: Vec<String> = (0..replicas).rev().map(|r| r.to_string()).collect();
    let reversed = |p: usize| (0..replicas).rev().map(|r| device(r, p)).collect();
    let text = format!(", replica_groups={{{{{}}}}}", numbers.join(","));
    forms.push((text, (0..partitions).map(reversed).collect()));
    forms
}

/// The forms of operations whose numbers are partitions if there is a channel.
fn forms_of_partitions(replicas: usize, partitions: usize) -> Vec<Form> {
    let mut forms = forms_of_replicas(replicas, partitions);
    let numbers: Vec<String> = (0..partitions).rev().map(|p| p.to_string()).collect();
    let reversed = |r: usize| (0..partitions).rev().map(|p| r * partitions + p).collect();
    let text = format!(", channel_id=NEXT, replica_groups={{{{{}}}}}", numbers.join(","));
    forms.push((text, (0..replicas).map(reversed).collect()));
    forms
}

/// A module in the making: results, and what each device should have of them.
struct Program {
    lines: Vec<String>,
    results: Vec<(String, String)>,
    expected: Vec<Vec<Array>>,
    channels: usize,
}

impl Program {
    fn new(devices: usize) -> Self {
        Self { lines: Vec::new(), results: Vec::new(), expected: vec![Vec::new(); devices], channels: 0 }
    }

    fn line(&mut self, line: String) {
        let mut line = line;
        if line.contains("NEXT") {
            self.channels += 1;
            line = line.replace("NEXT", &self.channels.to_string());
        }
        self.lines.push(format!("  {line}"));
    }

    /// An operation with one result.
    fn op(&mut self, ty: ElementType, text: &str, of_device: impl Fn(usize) -> Array) {
        let shape = of_device(0).shape(ty);
        let name = format!("r{}", self.results.len());
        self.line(format!("{name} = {shape} {text}"));
        self.result(name, shape, of_device);
    }

    fn result(&mut self, name: String, shape: String, of_device: impl Fn(usize) -> Array) {
        self.results.push((name, shape));
        for (device, expected) in self.expected.iter_mut().enumerate() {
            expected.push(of_device(device));
        }
    }

    fn text(&self, (replicas, partitions): (usize, usize), ty: ElementType, parameters: &[Array]) -> String {
        let binary = |name: &str, op: &str| {
            format!(
                "{name} {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT c = {ty}[] {op}(a, b)\n}}\n"
            )
        };
        let functions: String =
            [("sum", "add"), ("most", "maximum"), ("least", "minimum"), ("product", "multiply")]
                .into_iter()
                .filter(|(_, op)| !ty.is_complex() || matches!(*op, "add" | "multiply"))
                .map(|(name, op)| match (ty, op) {
                    (ElementType::Pred, "add") => binary(name, "or"),
                    (ElementType::Pred, "multiply") => binary(name, "and"),
                    _ => binary(name, op),
                })
                .collect();
        let parameter = |(n, p): (usize, &Array)| format!("  x{n} = {} parameter({n})\n", p.shape(ty));
        let parameters: String = parameters.iter().enumerate().map(parameter).collect();
        let (names, shapes): (Vec<&str>, Vec<&str>) =
            self.results.iter().map(|(name, shape)| (&name[..], &shape[..])).unzip();
        format!(
            "HloModule m, replica_count={replicas}, num_partitions={partitions}\n{functions}ENTRY e {{\n{parameters}{}\n  ROOT t = ({}) tuple({})\n}}\n",
            self.lines.join("\n"),
            shapes.join(", "),
            names.join(", ")
        )
    }

    /// Runs by both engines, and compares every bit.
    fn check(&self, counts: (usize, usize), ty: ElementType, given: &[Vec<Array>]) {
        let text = self.text(counts, ty, &given[0]);
        let options = ClientOptions { devices: given.len(), ..ClientOptions::default() };
        let client = Client::new(&options).expect("a client");
        let values: Vec<Vec<Literal>> =
            given.iter().map(|arrays| arrays.iter().map(|a| a.literal(ty)).collect()).collect();
        for &engine in ENGINES {
            let options = CompileOptions { engine: Some(engine), threads: 2, ..CompileOptions::default() };
            let program = client.compile_text(&text, &options);
            let program = program.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{text}"));
            let results = match given.len() {
                1 => program.run(&values[0]).map(|result| vec![result]),
                _ => program.run_on_devices(&values),
            };
            let results = results.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{text}"));
            for (device, (result, expected)) in results.iter().zip(&self.expected).enumerate() {
                let leaves = result.leaves();
                assert_eq!(leaves.len(), expected.len());
                for (n, (leaf, expected)) in leaves.into_iter().zip(expected).enumerate() {
                    let (name, expected) = (&self.results[n].0, expected.literal(ty));
                    let is_same = leaf.bytes() == expected.bytes();
                    assert!(
                        is_same,
                        "{engine:?}, device {device}, {name}: {leaf:?}, not {expected:?}\n{text}"
                    );
                }
            }
        }
    }
}

/// The types for some counts: all of them where there are replicas and partitions, and two others elsewhere.
fn types(counts: (usize, usize)) -> Vec<ElementType> {
    match counts {
        (2, 2) => TYPES.to_vec(),
        (replicas, partitions) => {
            let n = replicas * 3 + partitions;
            vec![TYPES[n % TYPES.len()], TYPES[(n + 5) % TYPES.len()]]
        }
    }
}

/// The members of a device's group, and its place.
fn group_of(groups: &[Vec<usize>], device: usize) -> (&[usize], usize) {
    let group = groups.iter().find(|g| g.contains(&device)).expect("a group");
    (group, group.iter().position(|&d| d == device).expect("a place"))
}

/// A function of the modules by its name, and what it is on whole numbers.
type Function = (&'static str, fn(i64, i64) -> i64);

/// The functions that whole numbers are combined by, as the module's are on a type.
fn functions(ty: ElementType) -> Vec<Function> {
    let mut all: Vec<Function> = match ty {
        ElementType::Pred => vec![("sum", |a, b| a | b), ("product", |a, b| a & b)],
        _ => vec![("sum", |a, b| a + b), ("product", |a, b| a * b)],
    };
    if !ty.is_complex() {
        all.extend([("most", i64::max as fn(i64, i64) -> i64), ("least", i64::min)]);
    }
    all
}

#[test]
fn reductions_and_gathers() {
    for counts in COUNTS {
        let devices = counts.0 * counts.1;
        for (form, groups) in forms_with_global_ids(counts.0, counts.1) {
            let n = groups[0].len();
            for ty in types(counts) {
                let arrays: Vec<Vec<Array>> = (0..devices)
                    .map(|d| vec![given(d, [2 * n, 3 * n], ty), given(d + 1, [1, 5], ty)])
                    .collect();
                let members = |device: usize, k: usize| -> Vec<Array> {
                    group_of(&groups, device).0.iter().map(|&d| arrays[d][k].clone()).collect()
                };
                let place = |device: usize| group_of(&groups, device).1;
                let mut p = Program::new(devices);
                for (name, f) in functions(ty) {
                    p.op(ty, &format!("all-reduce(x0), to_apply={name}{form}"), |d| {
                        Array::combined(&members(d, 0), f)
                    });
                    for along in [0, 1] {
                        let text =
                            format!("reduce-scatter(x0), dimensions={{{along}}}, to_apply={name}{form}");
                        p.op(ty, &text, |d| Array::combined(&members(d, 0), f).piece(along, place(d), n));
                    }
                }
                for along in [0, 1] {
                    p.op(ty, &format!("all-gather(x1), dimensions={{{along}}}{form}"), |d| {
                        Array::joined(&members(d, 1), along)
                    });
                }
                // Several arrays at once, and in two steps.
                let (a, b) = (arrays[0][0].shape(ty), arrays[0][1].shape(ty));
                let whole = Array::joined(&members(0, 1), 1).shape(ty);
                p.line(format!("both = ({a}, {b}) all-reduce(x0, x1), to_apply=sum{form}"));
                p.line(format!("b1 = {b} get-tuple-element(both), index=1"));
                p.line(format!("s = ({b}, {whole}) all-gather-start(x1), dimensions={{1}}{form}"));
                p.line(format!("g = {whole} all-gather-done(s)"));
                p.line(format!("rs = {a} all-reduce-start(x0), to_apply=product{form}"));
                p.line(format!("rd = {a} all-reduce-done(rs)"));
                let function = |name: &str| functions(ty).into_iter().find(|f| f.0 == name).expect("known").1;
                p.result("b1".into(), b, |d| Array::combined(&members(d, 1), function("sum")));
                p.result("g".into(), whole, |d| Array::joined(&members(d, 1), 1));
                p.result("rd".into(), a, |d| Array::combined(&members(d, 0), function("product")));
                p.check(counts, ty, &arrays);
            }
        }
    }
}

#[test]
fn exchanges() {
    for counts in COUNTS {
        let devices = counts.0 * counts.1;
        for (form, groups) in forms_of_partitions(counts.0, counts.1) {
            let n = groups[0].len();
            for ty in types(counts) {
                let arrays: Vec<Vec<Array>> =
                    (0..devices).map(|d| vec![given(d, [2 * n, 3 * n], ty)]).collect();
                let mut p = Program::new(devices);
                for along in [0, 1] {
                    p.op(ty, &format!("all-to-all(x0), dimensions={{{along}}}{form}"), |device| {
                        let (group, place) = group_of(&groups, device);
                        let pieces: Vec<Array> =
                            group.iter().map(|&d| arrays[d][0].piece(along, place, n)).collect();
                        Array::joined(&pieces, along)
                    });
                }
                p.op(ty, &format!("collective-broadcast(x0){form}"), |device| {
                    arrays[group_of(&groups, device).0[0]][0].clone()
                });
                // A ring in the order of each group, and its first half only.
                let numbers = if form.contains("channel_id") { counts.1 } else { counts.0 };
                let ring = |count: usize| -> String {
                    (0..count).map(|k| format!("{{{k},{}}}", (k + 1) % numbers)).collect::<Vec<_>>().join(",")
                };
                let channel = if form.contains("channel_id") { ", channel_id=NEXT" } else { "" };
                let number = |device: usize| match form.contains("channel_id") {
                    true => device % counts.1,
                    false => device / counts.1,
                };
                let from = |device: usize| {
                    let source = (number(device) + numbers - 1) % numbers;
                    match form.contains("channel_id") {
                        true => device / counts.1 * counts.1 + source,
                        false => source * counts.1 + device % counts.1,
                    }
                };
                let text =
                    format!("collective-permute(x0){channel}, source_target_pairs={{{}}}", ring(numbers));
                p.op(ty, &text, |device| arrays[from(device)][0].clone());
                let half = numbers / 2;
                let text = format!("collective-permute(x0){channel}, source_target_pairs={{{}}}", ring(half));
                p.op(ty, &text, |device| {
                    let source = (number(device) + numbers - 1) % numbers;
                    let dims = arrays[0][0].dims;
                    if source < half { arrays[from(device)][0].clone() } else { Array::new(dims, |_, _| 0) }
                });
                p.check(counts, ty, &arrays);
            }
        }
    }
}

#[test]
fn a_program_that_diverges_ends_by_both_engines() {
    let text = "HloModule m, replica_count=2
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
more { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 z = s32[] constant(0) ROOT c = pred[] compare(i, z), direction=GT }
body {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] subtract(i, one)
  y = s32[] all-reduce(x), to_apply=sum
  ROOT t = (s32[], s32[]) tuple(j, y)
}
ENTRY e {
  n = s32[] parameter(0)
  s = (s32[], s32[]) tuple(n, n)
  w = (s32[], s32[]) while(s), condition=more, body=body
  ROOT r = s32[] get-tuple-element(w), index=1
}";
    let client = Client::new(&ClientOptions { devices: 2, ..ClientOptions::default() }).expect("a client");
    for &engine in ENGINES {
        let options = CompileOptions { engine: Some(engine), ..CompileOptions::default() };
        let program = client.compile_text(text, &options).expect("a program");
        let values = |a: i32, b: i32| [vec![Literal::r0(a)], vec![Literal::r0(b)]];
        let sums = program.run_on_devices(&values(3, 3)).expect("equal turns");
        assert_eq!(sums[1].integer_at(0), Some(24));
        let error = program.run_on_devices(&values(2, 3)).expect_err("one goes on").to_string();
        let waits = "device 1: the devices diverge: device 1 at `all-reduce` `";
        assert!(
            error.contains(waits) && error.contains("` waits for device 0, at its end already"),
            "{error}"
        );
        // It can be run again.
        assert!(program.run_on_devices(&values(1, 1)).is_ok());
        let alone = program.run(&[Literal::r0(1)]).expect_err("two devices");
        assert!(alone.to_string().contains("runs on 2 devices"), "{alone}");
    }
    let alone = Client::local().compile_text(text, &CompileOptions::default());
    assert!(alone.expect_err("one device").to_string().contains("the client has 1"));
    assert_eq!(ENGINES.contains(&Engine::Compiled), cfg!(feature = "codegen"));
}
