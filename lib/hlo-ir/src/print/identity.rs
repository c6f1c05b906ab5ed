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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Literal, Shape};

    fn identity(module: &Module) -> Vec<u8> {
        let mut all = Vec::new();
        for_each_identifying_part(module, PrintOptions::default(), &mut |part| all.extend_from_slice(part));
        all
    }

    fn constant(value: Literal) -> Module {
        let mut module = Module::new("m");
        let entry = module.add_computation("e");
        let shape: Shape = value.shape().clone();
        let root = module.add(entry, "c", shape, Op::constant(value), []);
        module.set_root(entry, root);
        module.set_entry(entry);
        module
    }

    #[test]
    fn large_constants_count_to_the_last_element() {
        let mut numbers = [0.5f32; 1000];
        let one = identity(&constant(Literal::r1(&numbers)));
        assert_eq!(one, identity(&constant(Literal::r1(&numbers))));
        numbers[999] = 0.25;
        assert_ne!(one, identity(&constant(Literal::r1(&numbers))));
    }
}
