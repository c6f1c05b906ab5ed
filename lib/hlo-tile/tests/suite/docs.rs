//! Runs the programs of docs/tile.md and checks the values after each program.

use hlo_ir::Literal;
use hlo_tile::Tile;

/// Returns the fenced code blocks of a page, each with its language and its text.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut out = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
            out.push((kind, body.join("\n") + "\n"));
        }
    }
    out
}

#[test]
fn programs_have_the_values_that_follow() {
    let text = include_str!("../../../../docs/tile.md");
    let blocks = blocks(text);
    let mut count = 0;
    for pair in blocks.windows(2) {
        let [(kind, program), (values, lines)] = pair else { continue };
        if *kind != "tile" {
            continue;
        }
        assert!(values.starts_with("values"), "a program without values:\n{program}");
        let tile = Tile::new("docs.tile", program).unwrap_or_else(|e| panic!("{e:?}\n{program}"));
        let function = match values.strip_prefix("values ") {
            Some(name) => name,
            None => tile.only_function().expect("one function"),
        };
        let arguments = &tile.directive(function).expect("arguments").arguments;
        let made = tile.specialize(function, arguments).unwrap_or_else(|e| panic!("{e:?}\n{program}"));
        assert!(made.warnings.is_empty(), "{:?}\n{program}", made.warnings);
        let literals: Vec<Literal> = lines
            .lines()
            .map(|line| line.split_once(" = ").expect("NAME = VALUE").1)
            .map(|value| hlo_parser::parse_literal(value).unwrap_or_else(|e| panic!("{e:?}: {value}")))
            .collect();
        let (expected, inputs) = literals.split_last().expect("values");
        let found =
            hlo_eval::evaluate(&made.module, inputs, &hlo_eval::Options::default()).expect("a result");
        assert!(found.shape().compatible(expected.shape()), "{program}");
        assert_eq!(found.elements::<f32>(), expected.elements::<f32>(), "{program}");
        count += 1;
    }
    assert!(count >= 12, "{count} programs");
}
