//! The state of a parse: the module under construction, its names, the diagnostics, and positions in the text.

use crate::errors::MAX_ERRORS;
use crate::grammar::Rule;
use crate::inferred::Inferred;
use crate::scan::Scanned;
use hlo_ir::blank::TrimBlanks;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Opcode, ShapePool, Span};
use pest::iterators::Pair;
use std::collections::{HashMap, HashSet};

/// A map keyed by names in the text. Its hasher has a random seed and is much faster than the default.
pub type ByName<'t, T> = HashMap<&'t str, T, foldhash::fast::RandomState>;

/// A defined computation.
pub struct Defined {
    /// The computation in the module.
    pub id: ComputationId,
    /// The span of its name.
    pub span: Span,
    /// Whether its body has been parsed. It can be called only after that.
    pub complete: bool,
}

/// The state of a parse.
pub struct ModuleParser<'t> {
    /// The original text.
    pub source: &'t str,
    /// The text with comments replaced by blanks. Positions are the same as in `source`.
    pub text: &'t str,
    /// The module under construction.
    pub module: Module,
    /// The errors so far.
    pub diags: Vec<Diag>,
    /// The warnings so far: text that is accepted but probably not as intended.
    pub warnings: Vec<Diag>,
    /// The computations defined so far.
    pub names: Computations<'t>,
    /// Inline computations and the base of their names. They are named after all others are known.
    pub unnamed: Vec<(ComputationId, String)>,
    /// The inline bodies that have been parsed in place of a computation's name, by start offset.
    pub inline_bodies: HashMap<u32, Pair<'t, Rule>>,
    /// The size of all shapes inferred so far because the text does not contain them.
    pub inferred: Inferred,
    /// The opcodes whose attributes an error message has already listed.
    pub attributes_listed: HashSet<Opcode>,
    /// The asynchronous chain of each asynchronous instruction.
    pub chains: HashMap<InstrId, Chain>,
    /// The tuple shapes. Equal ones are shared.
    pub shapes: ShapePool,
    /// An empty map for the names of the next body.
    pub spare_names: ByName<'t, Slot>,
    /// The result of the scan.
    pub scanned: &'t Scanned<'t>,
    /// The first brace that the scan reported. Instructions after it may be in the wrong body.
    pub broken_brace: Option<usize>,
    /// The entry computation, and the span of its name.
    pub entry: Option<(ComputationId, Span)>,
}

/// The computations defined so far, by name without `%`.
#[derive(Default)]
pub struct Computations<'t>(pub ByName<'t, Defined>);

/// The chain of an asynchronous instruction: a start, updates, a done.
#[derive(Clone, Copy)]
pub struct Chain {
    /// The start; `None` while it is being read.
    pub start: Option<InstrId>,
    /// The wrapped opcode, if it is known.
    pub wrapped: Option<Opcode>,
}

/// A name defined in a body.
#[derive(Clone, Copy)]
pub struct Slot {
    /// The instruction. `None` if it is invalid, so that its uses are not reported as errors.
    pub id: Option<InstrId>,
    /// The span of the name.
    pub span: Span,
}

/// A body that is being read.
pub struct Body<'t> {
    /// The computation.
    pub computation: ComputationId,
    /// The offset of the end of the body.
    pub end: usize,
    /// The instructions by name, without `%`.
    pub names: ByName<'t, Slot>,
    /// The instructions that have no name in the text, and the base of their names.
    pub unnamed: Vec<(InstrId, String)>,
    /// The instruction marked `ROOT`, and its span. The instruction is `None` if it is invalid.
    pub root: Option<(Option<InstrId>, Span)>,
    /// The last instruction.
    pub last: Option<InstrId>,
    /// Whether an instruction is invalid.
    pub failed: bool,
    /// Whether undefined operands become parameters.
    pub single: bool,
    /// The number of the next such parameter.
    pub parameters: i64,
}

impl Body<'_> {
    /// Creates an empty body.
    pub fn new(computation: ComputationId, end: usize) -> Self {
        Self {
            computation,
            end,
            names: ByName::default(),
            unnamed: Vec::new(),
            root: None,
            last: None,
            failed: false,
            single: false,
            parameters: 0,
        }
    }
}

fn is_brace(text: &str, at: usize) -> bool {
    matches!(text.as_bytes().get(at), Some(b'{' | b'}'))
}

impl<'t> ModuleParser<'t> {
    /// Creates a parser for `source`. `scanned` is the result of scanning it.
    pub fn new(source: &'t str, scanned: &'t Scanned<'t>) -> Self {
        Self {
            source,
            text: &scanned.text,
            module: Module::default(),
            inferred: Inferred::default(),
            diags: scanned.errors.clone(),
            warnings: Vec::new(),
            names: Computations::default(),
            unnamed: Vec::new(),
            attributes_listed: HashSet::new(),
            inline_bodies: HashMap::new(),
            chains: HashMap::new(),
            shapes: ShapePool::default(),
            spare_names: ByName::default(),
            scanned,
            broken_brace: scanned.broken.iter().copied().find(|&b| is_brace(source, b)),
            entry: None,
        }
    }

    /// Returns whether there are enough errors.
    pub fn full(&self) -> bool {
        // One more error than is shown tells that there are more.
        self.diags.len() > MAX_ERRORS
    }

    /// Adds an error.
    pub fn report(&mut self, diag: Diag) {
        if !self.full() {
            self.diags.push(diag);
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, diag: Diag) {
        if self.warnings.len() <= MAX_ERRORS {
            self.warnings.push(diag);
        }
    }

    /// Returns the span of `part`, a slice of [`ModuleParser::text`].
    pub fn span_of(&self, part: &str) -> Span {
        // A name that is not in the text has no span.
        let start = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        let Some(start) = start.filter(|s| s + part.len() <= self.text.len()) else {
            return Span::default();
        };
        Span::new(start, start + part.len())
    }

    /// Returns the original text, with comments, at a span.
    pub fn source_at(&self, span: Span) -> &'t str {
        self.source.get(span.range()).unwrap_or_default()
    }

    /// Makes a computation, whose name is at `span`, the entry.
    pub fn set_entry(&mut self, id: ComputationId, span: Span) {
        self.entry = Some((id, span));
    }

    /// Returns whether the scan reported a bracket in the range.
    pub fn is_broken(&self, range: std::ops::Range<usize>) -> bool {
        self.first_broken(range.start).is_some_and(|b| b < range.end)
    }

    /// Returns whether the offsets `first` and `second` are in the same body, according to the scan.
    pub fn same_body(&self, first: usize, second: usize) -> bool {
        self.broken_brace.is_none_or(|b| b >= second) && !self.is_broken(first..second)
    }

    /// Returns the first bracket at or after `at` that the scan reported.
    pub fn first_broken(&self, at: usize) -> Option<usize> {
        let broken = &self.scanned.broken;
        broken.get(broken.partition_point(|&b| b < at)).copied()
    }

    /// Returns the span of the name of the computation `name`, if it is defined after `at`.
    pub fn defined_later(&self, name: &str, at: usize) -> Option<Span> {
        let ends = &self.scanned.top_level_ends;
        ends[ends.partition_point(|&e| e < at)..].iter().find_map(|&end| {
            let rest = self.text[end + 1..].trim_blanks_start();
            let rest = rest.strip_prefix("ENTRY").map_or(rest, str::trim_blanks_start);
            let rest = rest.strip_prefix('%').unwrap_or(rest);
            let found = rest.get(..name.len()).filter(|&n| n == name)?;
            let ends_there = rest[name.len()..].trim_blanks_start().starts_with(['(', '{']);
            ends_there.then(|| self.span_of(found))
        })
    }

    /// Returns the end of the top-level block that contains `at` or is the first after it.
    pub fn after_block(&self, at: usize) -> usize {
        let ends = &self.scanned.top_level_ends;
        ends.get(ends.partition_point(|&e| e < at)).map_or(self.text.len(), |e| e + 1)
    }

    /// Returns the start of the next line after `at`, or the end of the text.
    pub fn next_line(&self, at: usize) -> usize {
        self.text[at..].find(['\n', '\r']).map_or(self.text.len(), |n| at + n + 1)
    }
}
