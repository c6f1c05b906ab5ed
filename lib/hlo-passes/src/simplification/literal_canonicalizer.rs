//! `literal-canonicalizer`: makes equal constants share the memory of their elements.
//!
//! The parser and passes create a literal for each constant. Constants in all computations with the same
//! shape, layout and bytes share the memory of the first one. The instructions and the printed text do not
//! change. (`cse` merges the instructions themselves, within a computation.)
//!
//! Bytes are compared, not numbers: `-0` is not `0`, and NaNs with different payloads differ. Constants whose
//! elements the text elides (`{...}`) have no known bytes and are skipped. Tuples share memory array by
//! array.

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use hlo_ir::{ArrayShape, Literal, Module, Op};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "literal-canonicalizer",
    summary: "let constants with equal literals share memory (the text form does not change)",
    options: &[OptionInfo {
        name: "min-size-bytes",
        summary: "minimum size in bytes of the arrays that share memory",
        default: OptionValue::Count(0),
    }],
    example: "\
HloModule literal_canonicalizer

f {
  p = f32[4] parameter(0)
  c = f32[4] constant({1, 2, 3, 4})
  ROOT m = f32[4] multiply(p, c)
}

ENTRY e {
  x = f32[4] parameter(0)
  c = f32[4] constant({1, 2, 3, 4})
  a = f32[4] add(x, c)
  ROOT r = f32[4] call(a), to_apply=f
}
",
    build: |_, options| {
        let min_bytes = options.count("min-size-bytes");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, min_bytes, rewrites)))
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, min_bytes: u64, rewrites: &mut Rewrites) -> bool {
    let mut pool = Pool::default();
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        for i in module.post_order(c) {
            if !matches!(&module[i].op, Op::Constant(a) if !a.is_elided()) {
                continue;
            }
            if !rewrites.allowed() {
                return changed;
            }
            let shape = module[i].shape.clone();
            let Op::Constant(constant) = module.op_mut(i) else { continue };
            let mut shared = false;
            for (array, shape) in constant.literal.leaves_mut().into_iter().zip(shape.leaves()) {
                if let Some(shape) = shape.as_array().filter(|_| array.bytes().len() as u64 >= min_bytes) {
                    shared |= pool.share(array, shape);
                }
            }
            if shared {
                rewrites.made("share-literal", &module[i].name);
                changed = true;
            }
        }
    }
    changed
}

/// The first array with each shape and contents, by the hash of both.
#[derive(Default)]
struct Pool {
    hasher: RandomState,
    arrays: HashMap<u64, Vec<(ArrayShape, Literal)>>,
}

impl Pool {
    /// Makes the array share the memory of the first equal one. Returns false if it is the first, or already
    /// shares it.
    fn share(&mut self, array: &mut Literal, shape: &ArrayShape) -> bool {
        let known = self.arrays.entry(self.hasher.hash_one((shape, array.bytes()))).or_default();
        match known.iter().find(|(s, first)| s == shape && first.bytes() == array.bytes()) {
            Some((_, first)) => array.share_storage(first),
            None => {
                known.push((shape.clone(), array.clone()));
                false
            }
        }
    }
}
