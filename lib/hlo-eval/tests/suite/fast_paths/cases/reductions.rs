//! Random cases of `reduce`, `reduce-window` and `map` with reducers of all kinds.

use super::entry;
use crate::fast_paths::{Case, Random, array, list, shape};
use hlo_ir::ElementType;

fn reducer(r: &mut Random, ty: ElementType) -> String {
    let t = shape(ty, &[]);
    let parameters = format!("  a = {t} parameter(0)\n  b = {t} parameter(1)\n");
    let operations: &[&str] = match ty {
        t if t.is_pred() => &["and", "or", "add", "multiply"],
        t if t.is_integer() => &["add", "multiply", "maximum", "minimum", "and", "xor", "subtract"],
        t if t.is_complex() => &["add", "multiply", "subtract"],
        _ => &["add", "add", "multiply", "maximum", "minimum", "subtract"],
    };
    let (first, second) = (r.choose(operations), r.choose(operations));
    let body = match r.within(0, 5) {
        0..=2 => format!("  ROOT r = {t} {first}(a, b)\n"),
        3 => format!("  ROOT r = {t} {first}(b, a)\n"),
        4 => format!("  c = {t} {first}(a, b)\n  ROOT r = {t} {second}(c, a)\n"),
        // The sort prevents compilation to a program.
        _ => {
            let pair = shape(ty, &[2]);
            let one = shape(ty, &[1]);
            return format!(
                "any {{ p = {t} parameter(0)\n q = {t} parameter(1)\n ROOT c = pred[] constant(false) }}\n\
                 f {{\n{parameters}  x = {one} reshape(a)\n  y = {one} reshape(b)\n  \
                 p = {pair} concatenate(x, y), dimensions={{0}}\n  \
                 s = {pair} sort(p), dimensions={{0}}, to_apply=any\n  \
                 l = {one} slice(s), slice={{[0:1]}}\n  u = {t} reshape(l)\n  ROOT r = {t} {first}(u, b)\n}}\n"
            );
        }
    };
    format!("f {{\n{parameters}{body}}}\n")
}

pub fn sizes(r: &mut Random, rank: usize) -> Vec<i64> {
    let mut sizes = r.sizes(rank, 1, 5);
    if rank > 0 && r.one_in(6) {
        sizes[0] = r.within(250, 520);
    }
    if rank > 0 && r.one_in(12) {
        let last = rank - 1;
        sizes[last] = 0;
    }
    sizes
}

pub fn reduce(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(0, 3) as usize;
    let dims = sizes(r, rank);
    let reduced: Vec<usize> = (0..rank).filter(|_| r.one_in(2)).collect();
    let kept: Vec<i64> = (0..rank).filter(|d| !reduced.contains(d)).map(|d| dims[d]).collect();
    let instructions = format!(
        "  x = {} parameter(0)\n  z = {} parameter(1)\n  \
         ROOT r = {} reduce(x, z), dimensions={{{}}}, to_apply=f",
        shape(ty, &dims),
        shape(ty, &[]),
        shape(ty, &kept),
        list(&reduced)
    );
    Case { text: entry(&reducer(r, ty), &instructions), inputs: vec![array(r, ty, &dims), array(r, ty, &[])] }
}

pub fn reduce_of_pairs(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(1, 3) as usize;
    let dims = sizes(r, rank);
    let reduced = r.within(0, rank as i64 - 1) as usize;
    let kept: Vec<i64> = (0..rank).filter(|&d| d != reduced).map(|d| dims[d]).collect();
    let (t, all, some) = (shape(ty, &[]), shape(ty, &dims), shape(ty, &kept));
    let (positions, found) = (shape(ElementType::S32, &dims), shape(ElementType::S32, &kept));
    let f = format!(
        "f {{\n  m = {t} parameter(0)\n  i = s32[] parameter(1)\n  s = {t} parameter(2)\n  \
         v = {t} parameter(3)\n  j = s32[] parameter(4)\n  e = {t} parameter(5)\n  \
         c = pred[] compare(v, m), direction=GT\n  a = {t} select(c, v, m)\n  b = s32[] select(c, j, i)\n  \
         d = {t} add(s, e)\n  ROOT r = ({t}, s32[], {t}) tuple(a, b, d)\n}}\n"
    );
    let (call, attributes) = if r.one_in(2) {
        ("reduce", format!("dimensions={{{reduced}}}"))
    } else {
        ("reduce-window", String::new())
    };
    let (some, found, attributes) = match call {
        "reduce" => (some, found, attributes),
        _ => {
            let (window, out) = window(r, &dims);
            (shape(ty, &out), shape(ElementType::S32, &out), window)
        }
    };
    let instructions = format!(
        "  x = {all} parameter(0)\n  y = {all} parameter(1)\n  z = {t} parameter(2)\n  \
         i = {positions} iota(), iota_dimension={reduced}\n  n = s32[] constant(-1)\n  \
         ROOT r = ({some}, {found}, {some}) {call}(x, i, y, z, n, z), {attributes}, to_apply=f"
    );
    let inputs = vec![array(r, ty, &dims), array(r, ty, &dims), array(r, ty, &[])];
    Case { text: entry(&f, &instructions), inputs }
}

pub fn window(r: &mut Random, dims: &[i64]) -> (String, Vec<i64>) {
    let mut parts: [Vec<String>; 5] = Default::default();
    let mut out = Vec::new();
    for &n in dims {
        let dilated = |n: i64, by: i64| if n == 0 { 0 } else { (n - 1) * by + 1 };
        let (size, stride) = (r.within(1, 3), r.within(1, 3));
        let (base, own) = (r.within(1, 2), r.within(1, 2));
        // Negative padding must not remove more elements than exist.
        let low = r.within(-1, 3).max(-dilated(n, base));
        let high = r.within(-1, 3).max(-dilated(n, base) - low);
        let room = dilated(n, base) + low + high - dilated(size, own);
        let numbers = [
            size.to_string(),
            stride.to_string(),
            format!("{low}_{high}"),
            base.to_string(),
            own.to_string(),
        ];
        for (part, number) in parts.iter_mut().zip(numbers) {
            part.push(number);
        }
        out.push(if room < 0 || dilated(n, base) + low + high <= 0 { 0 } else { room / stride + 1 });
    }
    let [size, stride, pad, base, own] = parts.map(|p| p.join("x"));
    if dims.is_empty() {
        return ("window={}".into(), out);
    }
    (format!("window={{size={size} stride={stride} pad={pad} lhs_dilate={base} rhs_dilate={own}}}"), out)
}

pub fn reduce_window(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(1, 3) as usize;
    let dims = sizes(r, rank);
    let (window, out) = window(r, &dims);
    windowed(r, ty, &dims, &window, &out)
}

pub fn cumulative(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(1, 3) as usize;
    let dims = r.sizes(rank, 1, 6);
    let along = r.within(0, rank as i64 - 1) as usize;
    let one = |d: usize, n: String, other: &str| if d == along { n } else { other.to_string() };
    let size: Vec<String> = (0..rank).map(|d| one(d, dims[d].to_string(), "1")).collect();
    let pad: Vec<String> = (0..rank).map(|d| one(d, format!("{}_0", dims[d] - 1), "0_0")).collect();
    windowed(r, ty, &dims, &format!("window={{size={} pad={}}}", size.join("x"), pad.join("x")), &dims)
}

fn windowed(r: &mut Random, ty: ElementType, dims: &[i64], window: &str, out: &[i64]) -> Case {
    let instructions = format!(
        "  x = {} parameter(0)\n  z = {} parameter(1)\n  ROOT r = {} reduce-window(x, z), {window}, to_apply=f",
        shape(ty, dims),
        shape(ty, &[]),
        shape(ty, out),
    );
    Case { text: entry(&reducer(r, ty), &instructions), inputs: vec![array(r, ty, dims), array(r, ty, &[])] }
}

pub fn map(r: &mut Random, ty: ElementType) -> Case {
    let rank = r.within(0, 2) as usize;
    let dims = sizes(r, rank);
    let all = shape(ty, &dims);
    let named = list(&(0..rank).collect::<Vec<_>>());
    let instructions = format!(
        "  x = {all} parameter(0)\n  y = {all} parameter(1)\n  ROOT r = {all} map(x, y), dimensions={{{named}}}, to_apply=f"
    );
    Case {
        text: entry(&reducer(r, ty), &instructions),
        inputs: vec![array(r, ty, &dims), array(r, ty, &dims)],
    }
}
