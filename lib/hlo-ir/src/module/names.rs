//! Names that are unique in a module, as XLA makes them when it reads one.
//!
//! In the text a name has to be unique in its computation only. XLA, and every tool that finds an instruction by
//! its name, has one name space for all instructions of a module, and one for computations.

use crate::{ComputationId, InstrId, Module};
use std::collections::{HashMap, HashSet};

/// Hands out names, each once: `stem` or `stem.N`.
#[derive(Debug, Default)]
struct Uniquer<'n> {
    stems: HashMap<&'n str, usize>,
    /// For each stem, the first number to try.
    next: Vec<i64>,
    /// The numbers given out, by stem.
    used: HashSet<(usize, i64)>,
}

impl<'n> Uniquer<'n> {
    /// The name to use for `name`: itself if it is free, else its stem with the next free number. `None` means
    /// itself. A number in a name counts as a number: `x.007` becomes `x.7`.
    fn unique(&mut self, name: &'n str) -> Option<String> {
        let numbered = name
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .and_then(|(stem, n)| Some((stem, n, n.parse::<i64>().ok()?)));
        let (stem, written, number) = match numbered {
            Some((stem, text, n)) => (stem, Some(text), n),
            None => (if name.is_empty() { "name" } else { name }, None, 0),
        };
        let fresh = self.next.len();
        let id = *self.stems.entry(stem).or_insert(fresh);
        if id == fresh {
            self.next.push(0);
        }
        let given = if self.used.insert((id, number)) {
            number
        } else {
            // Only ever upwards, so that all names of a stem together take linear time.
            let next = &mut self.next[id];
            while !self.used.insert((id, *next)) {
                *next += 1;
            }
            let given = *next;
            *next += 1;
            given
        };
        let unchanged = match written {
            Some(text) => given == number && is_plain(text),
            None => given == 0 && !name.is_empty(),
        };
        match (unchanged, written, given) {
            (true, ..) => None,
            (false, None, 0) => Some(stem.to_owned()),
            (false, ..) => Some(format!("{stem}.{given}")),
        }
    }
}

/// True if the text is how its number prints.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text == "0" || !digits.starts_with(['0', '+'])
}

impl Module {
    /// Renames so that no two instructions of the module have the same name, and no two computations: what XLA
    /// does to a module that it reads, with the same names. Names that are unique already stay. Linear.
    pub fn make_names_unique(&mut self) {
        let mut computations: Vec<(ComputationId, String)> = Vec::new();
        let mut instructions: Vec<(InstrId, String)> = Vec::new();
        let (mut computation_names, mut instruction_names) = (Uniquer::default(), Uniquer::default());
        for c in self.completion_order() {
            computations.extend(computation_names.unique(&self[c].name).map(|n| (c, n)));
            let list = self[c].instructions().iter();
            instructions
                .extend(list.filter_map(|&i| instruction_names.unique(&self[i].name).map(|n| (i, n))));
        }
        for (c, name) in computations {
            self[c].name = name.into();
        }
        for (i, name) in instructions {
            self.set_name(i, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the names become, in order.
    fn names<'a>(given: &[&'a str]) -> Vec<String> {
        let mut uniquer = Uniquer::<'a>::default();
        given.iter().map(|n| uniquer.unique(n).unwrap_or_else(|| (*n).to_owned())).collect()
    }

    #[test]
    fn a_name_that_is_taken_gets_the_next_free_number() {
        assert_eq!(names(&["p", "p", "p.2", "p.1", "p"]), ["p", "p.1", "p.2", "p.3", "p.4"]);
        assert_eq!(names(&["p.0", "p", "p.0"]), ["p.0", "p.1", "p.2"]);
        // Counted from 0, which a name without a number has.
        assert_eq!(names(&["p.1", "p.1", "p.1", "p"]), ["p.1", "p.0", "p.2", "p.3"]);
    }

    #[test]
    fn a_number_is_printed_as_a_number() {
        assert_eq!(names(&["a.007", "a.7", "a.-5", "a.-5", "a.-0"]), ["a.7", "a.0", "a.-5", "a.1", "a.2"]);
    }

    #[test]
    fn what_is_no_number_belongs_to_the_stem() {
        assert_eq!(
            names(&["a.b", "a.b", "a.", "a.", ".5", ".5"]),
            ["a.b", "a.b.1", "a.", "a..1", ".5", ".5.1"]
        );
        assert_eq!(names(&["a.99999999999999999999", "", ""]), ["a.99999999999999999999", "name", "name.1"]);
    }

    #[test]
    fn the_largest_number_is_no_trap() {
        assert_eq!(
            names(&["a.9223372036854775807", "a.9223372036854775807"]),
            ["a.9223372036854775807", "a.0"]
        );
    }
}
