//! The grammar of Tile: the rules and the generated parser.

#[derive(pest_derive::Parser)]
#[grammar = "../../grammar/tile.pest"]
pub(crate) struct TileGrammar;
