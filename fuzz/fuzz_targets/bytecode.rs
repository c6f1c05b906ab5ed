//! Any bytes are MLIR bytecode, or are refused; what is read can be written as VHLO, or is refused, and read again.

#![no_main]

use hlo_stablehlo::bytecode;
use hlo_stablehlo::dialect::Version;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(tree) = bytecode::read(bytes) else { return };
    if let Ok(written) = bytecode::write(&tree, Version::CURRENT) {
        if let Err(diag) = bytecode::read(&written) {
            panic!("what was written is refused: {diag:?}");
        }
    }
});
