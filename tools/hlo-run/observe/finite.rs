//! `--check-finite`: finds the instructions that compute a NaN or an infinity from finite numbers.

use super::element_sources::{ReadElements, source_elements};
use super::frames::Leaves;
use super::numbers::{self, Class, class_at, index, specials, text_at};
use crate::engine::at_opcodes;
use hlo_ir::diag::{Diag, Part, Source};
use hlo_ir::print::{PrintOptions, format_g, print_instruction};
use hlo_ir::{InstrId, Literal, Module, Moves, Opcode, Role, Shape, SourceFrames, Traits};
use std::collections::BTreeMap;

/// Maximum number of operand elements that are examined for one result. Beyond that, elements count as not
/// computed there.
const MAX_EXAMINED_ELEMENTS: usize = 100_000_000;
/// Maximum number of operand elements shown.
const MAX_SHOWN_ELEMENTS: usize = 6;

/// A NaN or infinite element that an instruction computed from better ones.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BadElement {
    /// The index of the array among those sent for the result, and the row-major position in it.
    leaf: usize,
    position: usize,
    class: Class,
    /// The worst class of the elements that it was computed from.
    from: Class,
}

/// An instruction that computed such elements.
#[derive(Clone, Debug)]
pub struct Finding {
    made: BadElement,
    /// The number of times the instruction was computed before.
    pub before: u64,
    /// The number of runs of the instruction with such elements.
    times: u64,
    place: String,
    /// The value, and the number of elements like it.
    counts: String,
    /// The operand elements that it was computed from.
    operands: Vec<String>,
}

/// The state of the search.
#[derive(Default)]
pub struct Check {
    /// The number of times each instruction was computed.
    computed: BTreeMap<InstrId, u64>,
    /// The findings, in order.
    found: Vec<(InstrId, Finding)>,
}

/// Whether the result of an instruction may contain a NaN or an infinity that is in none of its operands.
/// False for instructions that only move elements or receive them from outside.
pub fn may_introduce_special(module: &Module, id: InstrId) -> bool {
    let opcode = module[id].opcode();
    let Traits { moves, role, .. } = opcode.traits();
    let from_elsewhere = matches!(
        role,
        Role::Parameter | Role::Constant | Role::Tuple | Role::Element | Role::Alias | Role::Transfer
    );
    let moves = from_elsewhere || moves != Moves::Nothing || opcode == Opcode::Iota;
    !moves && super::taps::runs(module, id).is_empty() && has_specials(module, id)
}

/// Whether the result contains an array of a type with infinities or NaN.
pub fn has_specials(module: &Module, id: InstrId) -> bool {
    let special = |s: &Shape| s.as_array().is_some_and(|a| numbers::has_specials(a.element_type));
    module[id].shape.leaves().into_iter().any(special)
}

impl Check {
    /// Examines a value. Returns true if it is the first finding for its instruction.
    pub fn value(
        &mut self,
        module: &Module,
        id: InstrId,
        arrays: &[Literal],
        operands: &[Option<Leaves>],
        place: impl FnOnce() -> String,
    ) -> bool {
        let computed = self.computed.entry(id).or_default();
        let before = *computed;
        *computed += 1;
        let Some(made) = made(module, id, arrays, operands) else { return false };
        if let Some((_, known)) = self.found.iter_mut().find(|(i, _)| *i == id) {
            known.times += 1;
            return false;
        }
        let counts = arrays.get(made.leaf).map_or(String::new(), |array| counts(array, &made));
        let finding = Finding { made, before, times: 1, place: place(), counts, operands: Vec::new() };
        self.found.push((id, finding));
        true
    }

    /// Returns the findings.
    pub fn found(&self) -> &[(InstrId, Finding)] {
        &self.found
    }

    /// Records the operands of an instruction that was found, in a second run. `operands` contains their
    /// arrays, then those of the instruction itself.
    pub fn explain(&mut self, module: &Module, id: InstrId, operands: &[Literal]) {
        if let Some((_, finding)) = self.found.iter_mut().find(|(i, _)| *i == id) {
            finding.operands = fed(module, id, finding.made.position, operands);
        }
    }

    /// Returns the diagnostics to print.
    pub fn diags(&self, module: &Module, source: &Source) -> Vec<Diag> {
        let frames = SourceFrames::of(module);
        self.found.iter().flat_map(|(id, finding)| self.diag(module, &frames, *id, finding, source)).collect()
    }

    fn diag(
        &self,
        module: &Module,
        frames: &SourceFrames<'_>,
        id: InstrId,
        finding: &Finding,
        source: &Source,
    ) -> Vec<Diag> {
        let BadElement { class, from, .. } = finding.made;
        let what = if class == Class::Nan { "a NaN" } else { "an infinity" };
        let of = if from == Class::Finite { "finite operands" } else { "infinite operands" };
        let name = &module[id].name;
        let text = format!("`{name}` makes {what} from {of}");
        let mut diag = Diag::error(text).at_instruction(module.span(id), Part::Head, "this instruction");
        if module.span(id).is_empty() {
            diag.labels.clear();
            diag = diag.note(print_instruction(module, id, &PrintOptions::short()));
        }
        diag = diag.note(finding.counts.clone());
        for operand in &finding.operands {
            diag = diag.note(operand.clone());
        }
        if !finding.place.is_empty() {
            diag = diag.note(format!("in {} (iterations count from 0)", finding.place));
        }
        let computed = self.computed.get(&id).copied().unwrap_or(0);
        if computed > 1 && finding.times > 1 {
            diag = diag.note(format!("{} times of the {computed} that it was computed", finding.times));
        }
        if let Some(origin) = super::origin(frames, module, id) {
            diag = diag.note(format!("from {origin}"));
        }
        at_opcodes(vec![diag.focused(&source.text)], module, source)
    }
}

/// Describes the element and the number of other elements that are not finite.
fn counts(array: &Literal, made: &BadElement) -> String {
    let (mut nans, mut infinities) = (0usize, 0usize);
    for (_, class) in specials(array) {
        match class {
            Class::Nan => nans += 1,
            _ => infinities += 1,
        }
    }
    let dims = array.shape().as_array().map_or(&[][..], |a| &a.dims);
    let total = array.shape().as_array().map_or(0, |a| a.element_count());
    let at = if dims.is_empty() { String::new() } else { format!("at {} ", index(dims, made.position)) };
    let shape = array.shape().clone().without_layout();
    let elements = if total == 1 { "element" } else { "elements" };
    format!(
        "{at}it is {}; of its {total} {elements} ({shape}) {nans} NaN, {infinities} infinite",
        text_at(array, made.position)
    )
}

/// Returns the first element of a worse class than the elements that it was computed from.
fn made(module: &Module, id: InstrId, arrays: &[Literal], operands: &[Option<Leaves>]) -> Option<BadElement> {
    let mut looks = MAX_EXAMINED_ELEMENTS;
    for (leaf, array) in arrays.iter().enumerate() {
        for (position, class) in specials(array) {
            let from = if operands.iter().all(Option::is_none) {
                Class::Finite
            } else {
                worst(module, id, position, operands, &mut looks)?
            };
            // An infinity computed from a NaN does not count.
            if from < class {
                return Some(BadElement { leaf, position, class, from });
            }
        }
    }
    None
}

/// Returns the worst class of the elements that an element is computed from, or `None` once too many were
/// examined.
fn worst(
    module: &Module,
    id: InstrId,
    position: usize,
    operands: &[Option<Leaves>],
    looks: &mut usize,
) -> Option<Class> {
    let mut worst = Class::Finite;
    let all = source_elements(module, id, position);
    for (operand, fed) in operands.iter().zip(all) {
        let arrays = operand.iter().flat_map(|leaves| leaves.iter().flatten());
        for array in arrays {
            let found = match &fed {
                ReadElements::These(positions) => {
                    *looks = looks.checked_sub(positions.len())?;
                    positions.iter().map(|&p| class_at(array, p)).max()
                }
                ReadElements::Any => {
                    *looks = looks.checked_sub(array.bytes().len())?;
                    specials(array).map(|(_, class)| class).max()
                }
            };
            worst = worst.max(found.unwrap_or(Class::Finite));
        }
    }
    Some(worst)
}

/// Describes, for each operand, the elements that the element at `position` is computed from. `arrays`
/// contains the arrays sent for the operands, each once.
fn fed(module: &Module, id: InstrId, position: usize, arrays: &[Literal]) -> Vec<String> {
    let mut arrays = arrays.iter();
    let mut out = Vec::new();
    for (number, (&operand, fed)) in
        module[id].operands.iter().zip(source_elements(module, id, position)).enumerate()
    {
        for shape in module[operand].shape.leaves() {
            let Some(array) = super::taps::is_sent(shape).then(|| arrays.next()).flatten() else { continue };
            let count = array.shape().as_array().map_or(0, |a| a.element_count());
            let positions = match &fed {
                ReadElements::These(positions) => positions.iter().copied().filter(|&p| p < count).collect(),
                ReadElements::Any => (0..count).collect::<Vec<_>>(),
            };
            let (name, opcode) = (&module[operand].name, module[operand].opcode().name());
            out.push(format!("operand {number}, {opcode} `{name}`: {}", elements(array, &positions)));
        }
    }
    out
}

/// Describes elements: all if they are few, otherwise the first ones and the range.
fn elements(array: &Literal, positions: &[usize]) -> String {
    let dims = array.shape().as_array().map_or(&[][..], |a| &a.dims);
    let one = |&p: &usize| {
        if dims.is_empty() {
            text_at(array, p)
        } else {
            format!("{} = {}", index(dims, p), text_at(array, p))
        }
    };
    if positions.len() <= MAX_SHOWN_ELEMENTS {
        return if positions.is_empty() {
            "no elements".to_string()
        } else {
            positions.iter().map(one).collect::<Vec<_>>().join(", ")
        };
    }
    let all: Vec<f64> = numbers::numbers(array).collect();
    let values = || positions.iter().filter_map(|&p| all.get(p).copied());
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let first: Vec<String> = positions.iter().take(MAX_SHOWN_ELEMENTS).map(one).collect();
    let range = format!("from {} to {}", format_g(low, 6), format_g(high, 6));
    format!("{} elements {range}: {}, …", positions.len(), first.join(", "))
}
