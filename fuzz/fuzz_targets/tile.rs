//! Fuzzes the reader of Tile. It accepts any text or rejects it with diagnostics whose spans are inside the text. A function with its
//! arguments in a comment must become a valid module, or be rejected in the same way.

#![no_main]

use hlo_tile::Tile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let within = |diag: &hlo_ir::diag::Diag| {
        for label in &diag.labels {
            assert!(text.get(label.span.range()).is_some(), "{label:?}");
        }
    };
    let tile = match Tile::new("fuzz.tile", text) {
        Ok(tile) => tile,
        Err(diag) => return within(&diag),
    };
    tile.warnings().iter().for_each(within);
    for function in tile.functions() {
        let name = &function.name.text;
        let Some(directive) = tile.directive(name) else { continue };
        match tile.specialize(name, &directive.arguments) {
            Ok(made) => assert!(hlo_ir::verify::verify(&made.module).is_empty()),
            Err(diag) => within(&diag),
        }
    }
});
