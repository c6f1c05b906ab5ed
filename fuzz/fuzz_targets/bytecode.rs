//! Fuzzes the reader and the writer of MLIR bytecode. The reader accepts or rejects any bytes. The writer writes the tree as VHLO
//! or rejects it. The reader must accept the written bytes.

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
