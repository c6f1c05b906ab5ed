//! Tests of the languages of documents.

use hlo_lsp::internals::Language;

#[test]
fn a_document_has_the_language_that_its_editor_or_name_says() {
    let of = |id, uri: &str| Language::of(id, &uri.parse().unwrap()).name();
    assert_eq!(of("tile", "untitled:1"), "tile");
    assert_eq!(of("python", "file:///a/conv.tile"), "tile");
    assert_eq!(of("plaintext", "file:///a/conv.Tile"), "tile");
    assert_eq!(of("mlir", "untitled:1"), "stablehlo");
    assert_eq!(of("plaintext", "file:///a/step.mlir"), "stablehlo");
    assert_eq!(of("hlo", "file:///a/conv"), "hlo");
    assert_eq!(of("", "file:///a.tile/m.hlo"), "hlo");
}
