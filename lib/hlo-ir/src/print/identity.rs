//! The bytes that identify a module, for computing digests.

use super::{PrintOptions, print_module};
use crate::{Module, Op};

/// Calls `take` with bytes that identify the module: the text without large constants, then the elements of
/// all constants. Two modules yield the same bytes only if they are equal, except for what `options` omits.
/// The bytes are not a readable format.
pub fn for_each_identifying_part(module: &Module, options: PrintOptions, take: &mut dyn FnMut(&[u8])) {
    // As text, the constants would take several times the memory.
    let text = print_module(module, &PrintOptions { print_large_constants: false, ..options });
    take(text.as_bytes());
    for &instruction in module.computations().flat_map(|c| module[c].instructions()) {
        if let Op::Constant(constant) = &module[instruction].op {
            for leaf in constant.literal.leaves() {
                take(&(leaf.bytes().len() as u64).to_le_bytes());
                take(leaf.bytes());
            }
        }
    }
}
