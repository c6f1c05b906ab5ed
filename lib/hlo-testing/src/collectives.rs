//! Programs in which several devices exchange data: every collective with every form of groups. The expected
//! results of each device are computed with integers, according to the semantics ("AllReduce", "AllGather",
//! "AllToAll", "CollectiveBroadcast", "CollectivePermute", "ReduceScatter").

use hlo_ir::ElementType;

/// The numbers of replicas and partitions.
pub const COUNTS: [(usize, usize); 7] = [(1, 1), (2, 1), (1, 3), (4, 1), (2, 2), (1, 8), (4, 2)];

/// One or more types of each family.
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

/// Returns the types for a combination of counts. If there are several replicas and partitions, returns all
/// types. Otherwise, returns four that differ between combinations, so that each type occurs with several
/// counts.
pub fn types(counts: (usize, usize)) -> Vec<ElementType> {
    match counts {
        (2, 2) => TYPES.to_vec(),
        (replicas, partitions) => {
            (0..4).map(|k| TYPES[(replicas * 3 + partitions + 3 * k) % TYPES.len()]).collect()
        }
    }
}

/// An array of integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The sizes.
    pub dims: [usize; 2],
    /// The elements in row-major order.
    pub values: Vec<i64>,
}

impl Array {
    fn new(dims: [usize; 2], value: impl Fn(usize, usize) -> i64) -> Self {
        let values = (0..dims[0]).flat_map(|i| (0..dims[1]).map(move |j| (i, j)));
        Self { dims, values: values.map(|(i, j)| value(i, j)).collect() }
    }

    fn at(&self, i: usize, j: usize) -> i64 {
        self.values[i * self.dims[1] + j]
    }

    /// Returns piece `k` of `n` along a dimension.
    fn piece(&self, d: usize, k: usize, n: usize) -> Self {
        let mut dims = self.dims;
        dims[d] /= n;
        let first = k * dims[d];
        Self::new(dims, |i, j| if d == 0 { self.at(first + i, j) } else { self.at(i, first + j) })
    }

    /// Concatenates arrays along a dimension.
    fn joined(parts: &[Self], d: usize) -> Self {
        let size = parts[0].dims[d];
        let mut dims = parts[0].dims;
        dims[d] *= parts.len();
        Self::new(dims, |i, j| match d {
            0 => parts[i / size].at(i % size, j),
            _ => parts[j / size].at(i, j % size),
        })
    }

    /// Combines arrays element by element, in order.
    fn combined(parts: &[Self], f: impl Fn(i64, i64) -> i64) -> Self {
        let value = |i: usize, j: usize| parts.iter().map(|p| p.at(i, j)).reduce(&f).unwrap_or(0);
        Self::new(parts[0].dims, value)
    }

    /// Returns the shape of the array with an element type.
    pub fn shape(&self, ty: ElementType) -> String {
        format!("{ty}[{},{}]", self.dims[0], self.dims[1])
    }
}

/// Returns the input array of a device, with small numbers that every type can represent.
fn given(device: usize, dims: [usize; 2], ty: ElementType) -> Array {
    let value = move |i: usize, j: usize| (device * 3 + i * 2 + j) as i64 % 5 + 1;
    Array::new(dims, |i, j| if ty == ElementType::Pred { value(i, j) % 2 } else { value(i, j) })
}

/// Attributes that specify groups, and the groups.
type Form = (String, Vec<Vec<usize>>);

/// Returns the forms of groups of `all-reduce`, `reduce-scatter` and `all-gather`.
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

/// Returns the forms without a channel, whose numbers are replicas.
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

/// Returns the forms of operations whose numbers are partitions if there is a channel.
fn forms_of_partitions(replicas: usize, partitions: usize) -> Vec<Form> {
    let mut forms = forms_of_replicas(replicas, partitions);
    let numbers: Vec<String> = (0..partitions).rev().map(|p| p.to_string()).collect();
    let reversed = |r: usize| (0..partitions).rev().map(|p| r * partitions + p).collect();
    let text = format!(", channel_id=NEXT, replica_groups={{{{{}}}}}", numbers.join(","));
    forms.push((text, (0..replicas).map(reversed).collect()));
    forms
}

/// A program for several devices, with the inputs and the expected results of each device.
#[derive(Clone, Debug)]
pub struct Program {
    /// The numbers of replicas and partitions.
    pub counts: (usize, usize),
    /// The type of all elements.
    pub element_type: ElementType,
    /// The arguments of each device.
    pub given: Vec<Vec<Array>>,
    /// The elements of each device's result, which is a tuple.
    pub expected: Vec<Vec<Array>>,
    lines: Vec<String>,
    results: Vec<(String, String)>,
    channels: usize,
}

impl Program {
    fn new(counts: (usize, usize), element_type: ElementType, given: Vec<Vec<Array>>) -> Self {
        let expected = vec![Vec::new(); given.len()];
        Self { counts, element_type, given, expected, lines: Vec::new(), results: Vec::new(), channels: 0 }
    }

    /// Returns the name of the instruction for element `n` of the result.
    pub fn result_name(&self, n: usize) -> &str {
        self.results.get(n).map_or("", |(name, _)| name)
    }

    fn line(&mut self, line: String) {
        let mut line = line;
        if line.contains("NEXT") {
            self.channels += 1;
            line = line.replace("NEXT", &self.channels.to_string());
        }
        self.lines.push(format!("  {line}"));
    }

    /// Adds an operation with one result.
    fn op(&mut self, text: &str, of_device: impl Fn(usize) -> Array) {
        let shape = of_device(0).shape(self.element_type);
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

    /// Returns the program's text.
    pub fn text(&self) -> String {
        let ((replicas, partitions), ty) = (self.counts, self.element_type);
        let parameters = self.given.first().map_or(&[][..], Vec::as_slice);
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
}

/// Returns the members of a device's group, and its position in the group.
fn group_of(groups: &[Vec<usize>], device: usize) -> (&[usize], usize) {
    let group = groups.iter().find(|g| g.contains(&device)).map_or(&[][..], Vec::as_slice);
    (group, group.iter().position(|&d| d == device).unwrap_or(0))
}

/// The name of a combining function in the module, and the function on integers.
type Function = (&'static str, fn(i64, i64) -> i64);

/// Returns the combining functions for a type, as functions of integers.
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

/// Returns a program with all forms of groups of `all-reduce`, `reduce-scatter` and `all-gather`, with every
/// function and along each dimension, also with several arrays and as asynchronous operations.
pub fn reductions_and_gathers(counts: (usize, usize), ty: ElementType) -> Program {
    let devices = counts.0 * counts.1;
    let given = |d| vec![given(d, [2 * devices, 3 * devices], ty), given(d + 1, [1, 5], ty)];
    let mut p = Program::new(counts, ty, (0..devices).map(given).collect());
    for (k, (form, groups)) in forms_with_global_ids(counts.0, counts.1).into_iter().enumerate() {
        let n = groups[0].len();
        let arrays = p.given.clone();
        let members = |device: usize, k: usize| -> Vec<Array> {
            group_of(&groups, device).0.iter().map(|&d| arrays[d][k].clone()).collect()
        };
        for (name, f) in functions(ty) {
            let text = format!("all-reduce(x0), to_apply={name}{form}");
            p.op(&text, |d| Array::combined(&members(d, 0), f));
            for along in [0, 1] {
                let text = format!("reduce-scatter(x0), dimensions={{{along}}}, to_apply={name}{form}");
                let place = |device: usize| group_of(&groups, device).1;
                p.op(&text, |d| Array::combined(&members(d, 0), f).piece(along, place(d), n));
            }
        }
        for along in [0, 1] {
            let text = format!("all-gather(x1), dimensions={{{along}}}{form}");
            p.op(&text, |d| Array::joined(&members(d, 1), along));
        }
        in_steps(&mut p, k, &form, &members);
    }
    p
}

/// Adds operations on several arrays, and asynchronous operations.
fn in_steps(p: &mut Program, k: usize, form: &str, members: &dyn Fn(usize, usize) -> Vec<Array>) {
    let ty = p.element_type;
    let (a, b) = (p.given[0][0].shape(ty), p.given[0][1].shape(ty));
    let whole = Array::joined(&members(0, 1), 1).shape(ty);
    p.line(format!("both{k} = ({a}, {b}) all-reduce(x0, x1), to_apply=sum{form}"));
    p.line(format!("b{k} = {b} get-tuple-element(both{k}), index=1"));
    p.line(format!("started{k} = ({b}, {whole}) all-gather-start(x1), dimensions={{1}}{form}"));
    p.line(format!("g{k} = {whole} all-gather-done(started{k})"));
    p.line(format!("rs{k} = {a} all-reduce-start(x0), to_apply=product{form}"));
    p.line(format!("rd{k} = {a} all-reduce-done(rs{k})"));
    let function = |name: &str| {
        functions(ty).into_iter().find(|f| f.0 == name).map_or(i64::max as fn(i64, i64) -> i64, |f| f.1)
    };
    p.result(format!("b{k}"), b, |d| Array::combined(&members(d, 1), function("sum")));
    p.result(format!("g{k}"), whole, |d| Array::joined(&members(d, 1), 1));
    p.result(format!("rd{k}"), a, |d| Array::combined(&members(d, 0), function("product")));
}

/// Returns a program with all forms of groups of `all-to-all` and `collective-broadcast`, and permutes along
/// a ring and a half ring.
pub fn exchanges(counts: (usize, usize), ty: ElementType) -> Program {
    let devices = counts.0 * counts.1;
    let given = |d| vec![given(d, [2 * devices, 3 * devices], ty)];
    let mut p = Program::new(counts, ty, (0..devices).map(given).collect());
    let arrays = p.given.clone();
    for (form, groups) in forms_of_partitions(counts.0, counts.1) {
        let n = groups[0].len();
        for along in [0, 1] {
            p.op(&format!("all-to-all(x0), dimensions={{{along}}}{form}"), |device| {
                let (group, place) = group_of(&groups, device);
                let pieces: Vec<Array> = group.iter().map(|&d| arrays[d][0].piece(along, place, n)).collect();
                Array::joined(&pieces, along)
            });
        }
        p.op(&format!("collective-broadcast(x0){form}"), |device| {
            arrays[group_of(&groups, device).0[0]][0].clone()
        });
    }
    // A ring of the replicas, a ring of the partitions, and the first half of each.
    for by_partition in [false, true] {
        let (count, channel) = if by_partition { (counts.1, ", channel_id=NEXT") } else { (counts.0, "") };
        let number = |device: usize| if by_partition { device % counts.1 } else { device / counts.1 };
        let from = |device: usize| {
            let source = (number(device) + count - 1) % count;
            if by_partition {
                device / counts.1 * counts.1 + source
            } else {
                source * counts.1 + device % counts.1
            }
        };
        for pairs in [count, count / 2] {
            let ring: Vec<String> = (0..pairs).map(|k| format!("{{{k},{}}}", (k + 1) % count)).collect();
            let ring = ring.join(",");
            p.op(&format!("collective-permute(x0){channel}, source_target_pairs={{{ring}}}"), |device| {
                let source = (number(device) + count - 1) % count;
                let zeros = || Array::new(arrays[0][0].dims, |_, _| 0);
                if source < pairs { arrays[from(device)][0].clone() } else { zeros() }
            });
        }
    }
    p
}
