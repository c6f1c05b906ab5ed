//! Tests of requests about damaged texts, at every position.

use hlo_lsp::internals::{
    Document, Language, definition, folding_ranges, format, highlights, hover, prepare, references, rename,
    symbols, tokens,
};
use lsp_types::{Position, Uri};

const MODULE: &str = "HloModule m, is_scheduled=true\n\nadd (a: f32[], b: f32[]) -> f32[] {\n  \
    a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT sum = f32[] add(a, b)\n}\n\nENTRY %main {\n  \
    %p = (f32[4], u8[]) parameter(0), sharding={replicated} // é😀\n  z = f32[] constant({1, 2})\n  \
    r = f32[] reduce(p#0, z), to_apply={ x = f32[] parameter(0) ROOT y = negate(abs(x)) }\n  \
    ROOT t = f32[] call(r), to_apply=%add, control-predecessors={p}, metadata={op_name=\"a\"}\n}\n";

const TILE: &str = "from m import g as é\n# tile: A: f32[2,3], s = 2 # 😀\ndef f(A, s: int=é(1), *):\n  'é'; N = TensorDim()\n  \
    i, (j) = TensorIndexes(2)\n  A.bind_dims(2, N)\n  O = TensorOutput(\\\n N * s)\n  O[s * j] += A[i, j] # O\n  \
    O.add_constraint(i < 1.5e3)\n  return f(select(O > 0, -O, A), s=A.shape[0])\n";

const TEXTS: [(Language, &str); 2] = [(Language::Hlo, MODULE), (Language::Tile, TILE)];

/// Sends all requests about a position.
fn ask(d: &Document, at: Position) {
    hover(d, at);
    definition(d, at);
    references(d, at, true);
    highlights(d, at);
    d.reading().complete(d.offset(at), true);
    prepare(d, at);
    let _ = rename(d, at, "new");
}

fn document(language: Language, text: &str) -> Document {
    let uri: Uri = "file:///m".parse().unwrap();
    Document::new(uri, language, 1, 1, text.to_owned())
}

#[test]
fn every_position_of_every_text_has_answers() {
    let end = Position::new(u32::MAX, u32::MAX);
    for (language, whole) in TEXTS {
        let texts = (0..whole.len()).filter(|&at| whole.is_char_boundary(at)).flat_map(|at| {
            let (before, after) = whole.split_at(at);
            // The text is truncated, and junk is added.
            let junk = [
                "(",
                "}",
                "{",
                "\"",
                "'",
                "/*",
                "é",
                "\n// -----\n",
                "%",
                "=",
                ",",
                "\r",
                "\\",
                "\ndef ",
                ".",
            ];
            let damaged = junk.into_iter().map(move |j| (format!("{before}{j}{after}"), at));
            damaged.chain([(before.to_owned(), at), (after.to_owned(), 0)])
        });
        for (text, at) in texts {
            let d = document(language, &text);
            symbols(&d, true);
            symbols(&d, false);
            folding_ranges(&d);
            tokens(&d, None);
            for at in [d.text.position(at), d.text.position(at + 1), d.text.position(text.len()), end] {
                ask(&d, at);
            }
        }
        let d = document(language, whole);
        for line in 0..20 {
            for character in 0..100 {
                ask(&d, Position::new(line, character));
            }
        }
    }
}

#[test]
fn damaged_texts_are_formatted_or_refused() {
    for at in (0..MODULE.len()).step_by(7).filter(|&at| MODULE.is_char_boundary(at)) {
        let _ = format(&document(Language::Hlo, &MODULE[at..]));
        let _ = format(&document(Language::Hlo, &MODULE[..at]));
    }
}
