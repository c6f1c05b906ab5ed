//! The tables of docs/numerics.md.

use crate::engine::Engine;
use crate::measure::Worst;
use crate::{Extent, complex, exhaustive, real};

/// The greatest errors of a function, by the types of [`real::TYPES`] and [`complex::TYPES`]: none for types that the
/// opcode does not have, or is exact for.
pub struct Row {
    /// The opcode.
    pub name: &'static str,
    cells: Vec<Option<Worst>>,
}

/// The functions of the tables.
pub fn names() -> Vec<&'static str> {
    let real = real::FUNCTIONS.iter().map(|f| f.name).chain(real::BINARY);
    let others = complex::FUNCTIONS.iter().map(|f| f.name).filter(|n| real.clone().all(|r| r != *n));
    real.clone().chain(others).collect()
}

/// Measures a function.
pub fn measure(name: &'static str, engine: Engine, extent: Extent) -> Result<Row, String> {
    let mut cells: Vec<Option<Worst>> =
        if let Some(function) = real::FUNCTIONS.iter().find(|f| f.name == name) {
            let mut row = real::errors(function, engine, extent)?;
            if let Extent::All { step } = extent {
                let worst = exhaustive::error(name, engine, step)?;
                if worst.error > row[2].error {
                    row[2] = worst;
                }
            }
            row.into_iter().map(Some).collect()
        } else if real::BINARY.contains(&name) {
            real::binary_errors(name, engine, extent)?.into_iter().map(Some).collect()
        } else {
            vec![None; real::TYPES.len()]
        };
    match complex::FUNCTIONS.iter().find(|f| f.name == name) {
        Some(function) => cells.extend(complex::errors(function, engine, extent)?.into_iter().map(Some)),
        None => cells.extend(vec![None; complex::TYPES.len()]),
    }
    Ok(Row { name, cells })
}

impl Row {
    /// Returns the errors that no bound allows: a NaN, an infinity or a wrong sign of a zero.
    pub fn mistakes(&self) -> Vec<String> {
        self.exceeding(&vec![Some(f64::MAX); self.cells.len()])
    }

    /// The cells above their bounds, where they have one.
    fn exceeding(&self, bounds: &[Option<f64>]) -> Vec<String> {
        let types = real::TYPES.iter().chain(&complex::TYPES);
        let cells = self.cells.iter().zip(bounds).zip(types);
        let bad = cells.filter_map(|((cell, bound), ty)| {
            let bound = (*bound)?;
            let worst = cell.as_ref().filter(|w| w.error > bound || w.error.is_nan())?;
            Some(format!("{} of {ty}: {}, the bound is {bound:.2e}", self.name, text(worst)))
        });
        bad.collect()
    }

    /// The document with this row in the engine's table, in the place of the one that it had. The row says so if it is
    /// not of every `f32`.
    pub fn put_into(&self, document: &str, engine: Engine, step: u32) -> String {
        let mut cells: Vec<String> =
            self.cells.iter().map(|c| c.as_ref().map(text).unwrap_or_default()).collect();
        if step > 1 && real::FUNCTIONS.iter().any(|f| f.name == self.name) {
            cells[2] += &format!(", of one in {step}");
        }
        let row = format!("| {} | {} |", self.name, cells.join(" | "));
        let heading = format!("| {engine} |");
        let before = document.lines().position(|l| l.starts_with(&heading)).map_or(0, |n| n + 2);
        let mut lines: Vec<&str> = document.lines().collect();
        let end =
            lines.iter().skip(before).position(|l| !l.starts_with('|')).map_or(lines.len(), |n| before + n);
        let names = names();
        let rank = |line: &str| names.iter().position(|n| line.starts_with(&format!("| {n} |")));
        let at = (before..end).find(|&n| rank(lines[n]) >= rank(&row)).unwrap_or(end);
        if at < end && rank(lines[at]) == rank(&row) {
            lines[at] = &row;
        } else {
            lines.insert(at, &row);
        }
        lines.join("\n") + "\n"
    }
}

/// A bound, rounded up, and where the error is that large.
fn text(worst: &Worst) -> String {
    let parts: Vec<String> = worst.at.iter().map(|x| shortest(*x)).collect();
    let bound = (worst.error * 100.0).ceil() / 100.0;
    match parts.as_slice() {
        [] => format!("{bound:.2}"),
        [x] => format!("{bound:.2} at {x}"),
        parts => format!("{bound:.2} at ({})", parts.join(", ")),
    }
}

/// The shorter of the texts that read back as the number, or as the `f32` that it is.
fn shortest(x: f64) -> String {
    let single = x as f32;
    let (plain, scientific) = if f64::from(single) == x {
        (format!("{single}"), format!("{single:e}"))
    } else {
        (format!("{x}"), format!("{x:e}"))
    };
    if plain.len() <= scientific.len() { plain } else { scientific }
}

/// The documentation that has the tables.
pub const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/numerics.md");

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of an engine's table in the documentation, by row.
    fn documented(document: &str, engine: Engine) -> Vec<(String, Vec<Option<f64>>)> {
        let heading = format!("| {engine} |");
        let rows = document
            .lines()
            .skip_while(|l| !l.starts_with(&heading))
            .skip(2)
            .take_while(|l| l.starts_with('|'));
        let row = |line: &str| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let bound = |cell: &&str| cell.split(' ').next().and_then(|c| c.parse().ok());
            (cells[0].to_string(), cells[1..].iter().map(bound).collect())
        };
        rows.map(row).collect()
    }

    /// XLA's own bounds for `f32` and `f64`.
    const BUDGETS: [(&str, f64, f64); 8] = [
        ("exponential", 6.0, 1.0),
        ("log", 1.0, 1.0),
        ("log-plus-one", 1.0, 1.0),
        ("tanh", 3.0, 4.0),
        ("sine", 1.0, 1.0),
        ("cosine", 1.0, 1.0),
        ("atan2", 3.0, 2.0),
        ("rsqrt", 1.0, 1.0),
    ];

    #[test]
    fn the_bounds_are_within_the_budgets_of_xla() {
        let document = std::fs::read_to_string(DOCUMENT).expect("docs/numerics.md");
        for engine in Engine::ALL {
            let rows = documented(&document, engine);
            for (name, single, double) in BUDGETS {
                let row = rows.iter().find(|r| r.0 == name).unwrap_or_else(|| panic!("no row for {name}"));
                let within = |cell: usize, budget: f64| row.1[cell].is_some_and(|bound| bound <= budget);
                assert!(within(2, single) && within(3, double), "{engine} {row:?}");
            }
        }
    }

    #[test]
    fn errors_at_a_sample_are_within_the_documented_bounds() {
        let document = std::fs::read_to_string(DOCUMENT).expect("docs/numerics.md");
        let mut bad = Vec::new();
        for engine in Engine::ALL {
            let rows = documented(&document, engine);
            for name in names() {
                let row = measure(name, engine, Extent::Sample).expect("errors");
                match rows.iter().find(|r| r.0 == name) {
                    Some((_, bounds)) => bad.extend(row.exceeding(bounds)),
                    None => bad.push(format!("{name} {engine} has no row")),
                }
            }
        }
        assert!(bad.is_empty(), "`make ulp` writes the tables:\n{}", bad.join("\n"));
    }
}
