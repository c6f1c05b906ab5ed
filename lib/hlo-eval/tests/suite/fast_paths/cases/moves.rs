//! Random cases of operations that move elements, and of loops on scalars.

use super::entry;
use super::reductions::sizes;
use crate::fast_paths::{Case, Random, array, list, shape};
use hlo_ir::ElementType;

pub fn gather(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(1, 3) as usize;
    let operand = r.sizes(rank, 1, 5);
    let batch_rank = r.within(0, 2) as usize;
    let batch = r.sizes(batch_rank, 1, 4);
    let collapsed: Vec<usize> = (0..rank).filter(|_| r.one_in(2)).collect();
    let slices: Vec<i64> =
        (0..rank).map(|d| if collapsed.contains(&d) { 1 } else { r.within(1, operand[d]) }).collect();
    let offsets: Vec<i64> = (0..rank).filter(|d| !collapsed.contains(d)).map(|d| slices[d]).collect();
    let components = r.within(1, rank as i64) as usize;
    let map = r.permutation(rank)[..components].to_vec();
    let vector_dim = r.within(0, batch_rank as i64) as usize;
    let mut index_dims = batch.clone();
    // Without the dimension of index vectors, each index vector is one number.
    let vector_dim = if components == 1 && r.one_in(2) {
        batch_rank
    } else {
        index_dims.insert(vector_dim, components as i64);
        vector_dim
    };
    let out_rank = batch_rank + offsets.len();
    let mut offset_dims = r.permutation(out_rank)[..offsets.len()].to_vec();
    offset_dims.sort_unstable();
    let (mut batches, mut windows) = (batch.iter(), offsets.iter());
    let out: Vec<i64> = (0..out_rank)
        .filter_map(|d| if offset_dims.contains(&d) { windows.next() } else { batches.next() })
        .copied()
        .collect();
    let count = index_dims.iter().product::<i64>();
    let numbers: Vec<String> = (0..count).map(|_| r.within(-2, 6).to_string()).collect();
    let indices = format!(
        "  f = s32[{count}] constant({{{}}})\n  i = s32[{}] reshape(f)",
        numbers.join(", "),
        list(&index_dims)
    );
    let text = entry(
        "",
        &format!(
            "  x = {} parameter(0)\n{indices}\n  ROOT r = {} gather(x, i), offset_dims={{{}}}, \
             collapsed_slice_dims={{{}}}, start_index_map={{{}}}, index_vector_dim={vector_dim}, slice_sizes={{{}}}",
            shape(ty, &operand),
            shape(ty, &out),
            list(&offset_dims),
            list(&collapsed),
            list(&map),
            list(&slices)
        ),
    );
    Case { text, inputs: vec![array(r, ty, &operand)] }
}

pub fn pad(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(1, 3) as usize;
    let dims = sizes(r, rank);
    let (mut padding, mut out) = (Vec::new(), Vec::new());
    for &n in &dims {
        let interior = r.within(0, 2);
        let between = (n - 1).max(0) * interior;
        let low = r.within(-(n + between).min(3), 3);
        let high = r.within(-(n + between + low).clamp(0, 3), 3);
        padding.push(format!("{low}_{high}_{interior}"));
        out.push(n + between + low + high);
    }
    let instruction = format!(
        "  x = {} parameter(0)\n  v = {} parameter(1)\n  ROOT r = {} pad(x, v), padding={}",
        shape(ty, &dims),
        shape(ty, &[]),
        shape(ty, &out),
        padding.join("x")
    );
    Case { text: entry("", &instruction), inputs: vec![array(r, ty, &dims), array(r, ty, &[])] }
}

pub fn iota(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(1, 3) as usize;
    let dims = sizes(r, rank);
    let along = r.within(0, rank as i64 - 1);
    let text = format!("  ROOT r = {} iota(), iota_dimension={along}", shape(ty, &dims));
    Case { text: entry("", &text), inputs: vec![] }
}

pub fn moves(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(1, 3) as usize;
    let dims = r.sizes(rank, 1, 5);
    let x = shape(ty, &dims);
    let mut inputs = vec![array(r, ty, &dims)];
    let (out, instruction) = match r.within(0, 7) {
        0 => {
            let order = r.permutation(rank);
            let out: Vec<i64> = order.iter().map(|&d| dims[d]).collect();
            (shape(ty, &out), format!("transpose(x), dimensions={{{}}}", list(&order)))
        }
        1 => {
            let reversed: Vec<usize> = (0..rank).filter(|_| r.one_in(2)).collect();
            (x.clone(), format!("reverse(x), dimensions={{{}}}", list(&reversed)))
        }
        2 => {
            let (mut ranges, mut out) = (Vec::new(), Vec::new());
            for &n in &dims {
                let (start, stride) = (r.within(0, n), r.within(1, 3));
                let limit = r.within(start, n);
                ranges.push(format!("[{start}:{limit}:{stride}]"));
                out.push((limit - start + stride - 1) / stride);
            }
            (shape(ty, &out), format!("slice(x), slice={{{}}}", ranges.join(", ")))
        }
        3 => {
            let out_rank = rank + r.within(0, 2) as usize;
            let mut places = r.permutation(out_rank)[..rank].to_vec();
            places.sort_unstable();
            let mut out = r.sizes(out_rank, 1, 4);
            places.iter().zip(&dims).for_each(|(&d, &n)| out[d] = n);
            (shape(ty, &out), format!("broadcast(x), dimensions={{{}}}", list(&places)))
        }
        4 => {
            let along = r.within(0, rank as i64 - 1) as usize;
            let mut out = dims.clone();
            out[along] *= 3;
            (shape(ty, &out), format!("concatenate(x, x, x), dimensions={{{along}}}"))
        }
        5 => {
            let out: Vec<i64> = dims.iter().map(|&n| r.within(0, n)).collect();
            let starts = r.sizes(rank, -2, 5);
            return indexed(&x, &starts, inputs, |i| {
                (shape(ty, &out), format!("dynamic-slice(x, {i}), dynamic_slice_sizes={{{}}}", list(&out)))
            });
        }
        6 => {
            let update: Vec<i64> = dims.iter().map(|&n| r.within(1, n)).collect();
            let starts = r.sizes(rank, -2, 5);
            inputs.push(array(r, ty, &update));
            let update = shape(ty, &update);
            return indexed(
                &format!("{x} parameter(0)\n  u = {update} parameter(1)"),
                &starts,
                inputs,
                |i| (x.clone(), format!("dynamic-update-slice(x, u, {i})")),
            );
        }
        _ => {
            let (from, to) = (list(&r.permutation(rank)), list(&r.permutation(rank)));
            let text = format!(
                "  x = {x} parameter(0)\n  c = {x}{{{from}}} copy(x)\n  ROOT r = {x}{{{to}}} bitcast(c)"
            );
            return Case { text: entry("", &text), inputs };
        }
    };
    let text = entry("", &format!("  x = {x} parameter(0)\n  ROOT r = {out} {instruction}"));
    Case { text, inputs }
}

fn indexed(
    x: &str,
    starts: &[i64],
    inputs: Vec<String>,
    instruction: impl FnOnce(&str) -> (String, String),
) -> Case {
    let x = if x.contains("parameter") { x.to_string() } else { format!("{x} parameter(0)") };
    let constants: String =
        starts.iter().enumerate().map(|(d, i)| format!("  i{d} = s32[] constant({i})\n")).collect();
    let names: Vec<String> = (0..starts.len()).map(|d| format!("i{d}")).collect();
    let (out, instruction) = instruction(&names.join(", "));
    Case { text: entry("", &format!("  x = {x}\n{constants}  ROOT r = {out} {instruction}")), inputs }
}

pub fn scalar_while(r: &mut Random, ty: ElementType) -> Case {
    let t = shape(ty, &[]);
    let limit = r.within(0, 20);
    let text = format!(
        "go {{\n  s = ({t}, {t}) parameter(0)\n  i = {t} get-tuple-element(s), index=0\n  \
         n = {t} constant({limit})\n  ROOT c = pred[] compare(i, n), direction=LT\n}}\n\
         step {{\n  s = ({t}, {t}) parameter(0)\n  i = {t} get-tuple-element(s), index=0\n  \
         v = {t} get-tuple-element(s), index=1\n  one = {t} constant(1)\n  j = {t} add(i, one)\n  \
         w = {t} multiply(v, v)\n  u = {t} add(w, j)\n  ROOT t = ({t}, {t}) tuple(j, u)\n}}\n"
    );
    let instructions = format!(
        "  v = {t} parameter(0)\n  zero = {t} constant(0)\n  s = ({t}, {t}) tuple(zero, v)\n  \
         ROOT r = ({t}, {t}) while(s), condition=go, body=step"
    );
    Case { text: entry(&text, &instructions), inputs: vec![array(r, ty, &[])] }
}
