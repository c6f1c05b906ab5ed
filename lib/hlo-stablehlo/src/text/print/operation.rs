//! Printing of operations: the generic form, the pieces of pretty forms, regions and blocks.

use super::fits::fits;
use super::location::Aliases;
use super::names::Names;
use super::{PrintOptions, attribute, dimensions, sdy, types};
use crate::dialect;
use crate::text::format::{self, AttributeForm, Form, Piece, Types, defaults};
use crate::tree::{Attribute, Block, Operation, Region, Tree, Type, TypeKind, ValueId};
use std::fmt::Write;

/// The printer of a tree.
pub struct Printer<'t> {
    pub tree: &'t Tree,
    pub options: PrintOptions,
    pub names: Names,
    pub out: String,
    indent: usize,
    /// The dialect whose prefix is omitted in the innermost region.
    dialect: &'static str,
    locations: Aliases,
    /// Whether the printer only collects locations, so that its output is discarded.
    is_noting: bool,
}

impl<'t> Printer<'t> {
    pub fn new(tree: &'t Tree, options: PrintOptions) -> Self {
        let names = Names::new(tree, options.is_generic);
        let locations = Aliases::default();
        Self {
            tree,
            options,
            names,
            out: String::new(),
            indent: 0,
            dialect: "builtin",
            locations,
            is_noting: false,
        }
    }

    pub fn print(mut self) -> String {
        if self.options.with_locations {
            self.is_noting = true;
            self.operation(&self.tree.module);
            self.is_noting = false;
            self.out.clear();
            self.locations.number();
            self.locations.write_definitions(&mut self.out, false);
        }
        self.operation(&self.tree.module);
        self.out.push('\n');
        self.locations.write_definitions(&mut self.out, true);
        self.out
    }

    pub fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Starts a new line with indentation.
    pub fn new_line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn operation(&mut self, op: &Operation) {
        if self.is_noting {
            self.locations.note(&op.location, true);
        }
        self.names.write_results(&mut self.out, &op.results);
        let form = format::find(&op.name).filter(|_| !self.options.is_generic);
        match form.filter(|&form| fits(self.tree, op, form)) {
            None => {
                attribute::string(&mut self.out, op.name.as_bytes());
                self.generic(op);
            }
            Some(form) => {
                let short = op.name.strip_prefix(self.dialect).and_then(|rest| rest.strip_prefix('.'));
                self.text(short.unwrap_or(&op.name));
                self.form(op, form);
            }
        }
        if self.options.with_locations && !self.is_noting {
            self.out.push(' ');
            self.locations.write(&mut self.out, &op.location);
        }
    }

    /// Writes ` loc(…)` for a block argument if locations are printed.
    pub fn location_of_argument(&mut self, argument: ValueId) {
        if !self.options.with_locations {
            return;
        }
        let location = self.tree.location_of(argument);
        if self.is_noting {
            self.locations.note(location, false);
        } else {
            self.out.push(' ');
            self.locations.write_in_full(&mut self.out, location);
        }
    }

    /// Writes the generic form after the operation's name.
    pub fn generic(&mut self, op: &Operation) {
        self.out.push('(');
        self.operands(&op.operands);
        self.out.push(')');
        let (inherent, others) = split(op);
        if !inherent.is_empty() {
            self.text(" <");
            attribute::entries(&mut self.out, inherent);
            self.out.push('>');
        }
        if !op.regions.is_empty() {
            self.text(" ");
            self.regions(op);
        }
        if !others.is_empty() {
            self.out.push(' ');
            attribute::entries(&mut self.out, others);
        }
        self.text(" : ");
        self.function_type(op);
    }

    /// Writes regions in parentheses.
    fn regions(&mut self, op: &Operation) {
        self.out.push('(');
        for (i, region) in op.regions.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.region(op, region, true, true);
        }
        self.out.push(')');
    }

    /// Writes a region of an operation. Without a label, the arguments of the entry block are written
    /// elsewhere.
    pub fn region(&mut self, op: &Operation, region: &Region, has_label: bool, labels_empty: bool) {
        let around = std::mem::replace(
            &mut self.dialect,
            match &*op.name {
                "builtin.module" if !self.options.is_generic => "builtin",
                "func.func" => "func",
                _ => "",
            },
        );
        self.out.push('{');
        for (i, block) in region.blocks.iter().enumerate() {
            let is_entry = i == 0;
            let labeled = !is_entry
                || labels_empty && block.operations.is_empty()
                || has_label && !block.arguments.is_empty();
            if labeled {
                self.label(i, block);
            }
            self.indent += 2;
            for op in &block.operations {
                self.new_line();
                self.operation(op);
            }
            self.indent -= 2;
        }
        self.new_line();
        self.out.push('}');
        self.dialect = around;
    }

    /// Writes `^bb0(%arg0: tensor<f32>):`.
    fn label(&mut self, number: usize, block: &Block) {
        self.new_line();
        let _ = write!(self.out, "^bb{number}");
        if !block.arguments.is_empty() {
            self.out.push('(');
            self.arguments(&block.arguments);
            self.out.push(')');
        }
        self.out.push(':');
        if number > 0 {
            self.text("  // no predecessors");
        }
    }

    /// Writes `%arg0: tensor<f32>, %arg1: tensor<f32>`.
    pub fn arguments(&mut self, arguments: &[ValueId]) {
        for (i, &argument) in arguments.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.argument(argument);
        }
    }

    /// Writes `%arg0: tensor<f32>`.
    pub fn argument(&mut self, argument: ValueId) {
        self.names.write(&mut self.out, argument);
        self.text(": ");
        types::write(&mut self.out, self.tree.type_of(argument));
        self.location_of_argument(argument);
    }

    pub fn operand(&mut self, value: ValueId) {
        self.names.write(&mut self.out, value);
    }

    pub fn operands(&mut self, values: &[ValueId]) {
        for (i, &value) in values.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.operand(value);
        }
    }

    /// Writes the attributes that the form does not contain and that do not have their default value. Writes
    /// nothing if there are none.
    pub fn attributes(&mut self, op: &Operation, elided: &[&str], keyword: &str) {
        let said = op.attributes.iter().filter(|(name, value)| {
            !elided.contains(&name.as_str()) && !defaults::is_default(&op.name, name, value)
        });
        let entries: Vec<(&str, &Attribute)> = said.map(|(name, value)| (name.as_str(), value)).collect();
        if !entries.is_empty() {
            self.text(keyword);
            self.out.push(' ');
            attribute::entries(&mut self.out, entries);
        }
    }

    /// Writes `(A, B) -> C`.
    pub fn function_type(&mut self, op: &Operation) {
        let tree = self.tree;
        let inputs = op.operands.iter().map(|&v| tree.type_of(v));
        let results = op.results.iter().map(|&v| tree.type_of(v));
        types::function(&mut self.out, inputs, results);
    }

    /// Writes an operation piece by piece.
    pub fn pieces(&mut self, op: &Operation, pieces: &[Piece]) {
        let mut elided = Vec::new();
        names_in(pieces, &mut elided);
        let mut operands = &op.operands[..];
        self.some_pieces(op, pieces, &elided, &mut operands);
    }

    fn some_pieces(&mut self, op: &Operation, pieces: &[Piece], elided: &[&str], operands: &mut &[ValueId]) {
        for &piece in pieces {
            match piece {
                Piece::Text(text) => self.text(text),
                Piece::Operand => {
                    if let Some((&first, rest)) = operands.split_first() {
                        self.operand(first);
                        *operands = rest;
                    }
                }
                Piece::Operands => self.operands(std::mem::take(operands)),
                Piece::OperandsAndCommas => {
                    self.operands(std::mem::take(operands));
                    self.out.push(',');
                }
                Piece::OperandsAndTypes => self.operands_and_types(std::mem::take(operands)),
                Piece::Attribute(name, how) => {
                    if let Some(value) = op.attribute(name) {
                        self.attribute_as(value, how);
                    }
                }
                Piece::Optional(name, text, how) => {
                    let value = op.attribute(name);
                    if let Some(value) = value.filter(|v| !defaults::is_default(&op.name, name, v)) {
                        self.text(text);
                        self.attribute_as(value, how);
                    }
                }
                Piece::SliceRanges => dimensions::slice(&mut self.out, op),
                Piece::DotDimensions => dimensions::dot(&mut self.out, op),
                Piece::Window => dimensions::window(&mut self.out, op),
                Piece::ExponentMantissa(exponent, mantissa) => {
                    let number = |name| op.attribute(name).and_then(Attribute::as_int).unwrap_or_default();
                    let _ = write!(self.out, "e{}m{}", number(exponent), number(mantissa));
                }
                Piece::Dictionary => self.attributes(op, elided, ""),
                Piece::Types(types) => self.types(op, types),
                Piece::Regions if op.regions.is_empty() => {}
                Piece::Regions => {
                    self.out.push(' ');
                    self.regions(op);
                }
                Piece::RegionWithArguments => {
                    if let Some(region) = op.regions.first() {
                        self.out.push('(');
                        self.arguments(region.blocks.first().map_or(&[], |block| &block.arguments));
                        self.text(") ");
                        self.region(op, region, false, false);
                    }
                }
            }
        }
    }

    /// Writes ` %0, %1 : A, B`, or nothing.
    fn operands_and_types(&mut self, operands: &[ValueId]) {
        if !operands.is_empty() {
            self.out.push(' ');
            self.operands(operands);
            self.text(" : ");
            self.types_of(operands);
        }
    }

    fn types_of(&mut self, values: &[ValueId]) {
        let tree = self.tree;
        types::list(&mut self.out, values.iter().map(|&v| tree.type_of(v)));
    }

    fn types(&mut self, op: &Operation, types: Types) {
        let tree = self.tree;
        let is = |value: &ValueId, ty: &Type| tree.type_of(*value) == ty;
        let result = op.results.first().map(|&v| tree.type_of(v));
        match types {
            Types::Function => self.function_type(op),
            Types::Results => self.types_of(&op.results),
            Types::Operands if op.operands.is_empty() => {}
            Types::Operands => {
                self.text(" : ");
                self.types_of(&op.operands);
            }
            Types::OperandsSame => self.types_of(op.operands.get(..1).unwrap_or_default()),
            Types::Pairwise if op.operands.is_empty() => self.text("()"),
            Types::Pairwise => {
                self.operands(&op.operands);
                self.text(" : ");
                self.types_of(&op.operands);
            }
            Types::To => {
                self.types_of(&op.operands);
                self.text(" to ");
                self.types_of(&op.results);
            }
            Types::Arrow => {
                self.types_of(&op.operands);
                self.text(" -> ");
                let is_one = op.results.len() == 1;
                self.text(if is_one { "" } else { "(" });
                self.types_of(&op.results);
                self.text(if is_one { "" } else { ")" });
            }
            Types::Tuple => self.types_of(&op.results),
            Types::Same => match result {
                Some(ty) if op.operands.iter().all(|v| is(v, ty)) => types::write(&mut self.out, ty),
                _ => self.function_type(op),
            },
            Types::Select => match result {
                Some(ty) if op.operands.get(1..).is_some_and(|rest| rest.iter().all(|v| is(v, ty))) => {
                    self.types_of(&op.operands[..1]);
                    self.text(", ");
                    types::write(&mut self.out, ty);
                }
                _ => self.function_type(op),
            },
            Types::Complex => match result {
                Some(ty) if op.operands.iter().all(|v| is_part_of(tree.type_of(*v), ty)) => {
                    types::write(&mut self.out, ty);
                }
                _ => self.function_type(op),
            },
        }
    }

    fn attribute_as(&mut self, value: &Attribute, how: AttributeForm) {
        let out = &mut self.out;
        match (how, value) {
            (AttributeForm::Integer(_) | AttributeForm::Unsigned(_), Attribute::Integer(number, _)) => {
                let _ = write!(out, "{number}");
            }
            (AttributeForm::Integers, _) => attribute::integers(out, value),
            (AttributeForm::Float, Attribute::Float(number)) => {
                super::float::write(out, number.bits, crate::tree::FloatType::F64)
            }
            (AttributeForm::StringSymbol | AttributeForm::Symbol, _) => {
                attribute::symbol(out, value.as_str().unwrap_or_default())
            }
            (AttributeForm::Word(_), Attribute::Enum(_, word)) => out.push_str(word),
            (AttributeForm::WordOf(words), Attribute::Integer(position, _)) => {
                let word = usize::try_from(*position).ok().and_then(|at| words.get(at));
                out.push_str(word.copied().unwrap_or_default());
            }
            (AttributeForm::Words(_), Attribute::Array(items)) => {
                attribute::list(out, "[", items.iter(), "]", |out, item| match item {
                    Attribute::Enum(_, word) => out.push_str(word),
                    _ => attribute::write(out, item),
                });
            }
            (AttributeForm::Body(kind), Attribute::Struct(of, fields)) if *of == kind => {
                attribute::body(out, kind, fields)
            }
            (AttributeForm::ConvolutionDimensions, Attribute::Struct(_, fields)) => {
                dimensions::convolution(out, fields)
            }
            (AttributeForm::Shardings, Attribute::Struct(_, fields)) => sdy::shardings(out, fields),
            _ => attribute::write(out, value),
        }
    }

    fn form(&mut self, op: &Operation, form: Form) {
        match form {
            Form::Pieces(pieces) => self.pieces(op, pieces),
            Form::Constant => self.constant(op),
            Form::TypedConstant => {
                self.attributes(op, &["value"], "");
                self.out.push(' ');
                if let Some(value) = op.attribute("value") {
                    attribute::write(&mut self.out, value);
                }
            }
            Form::Reduce => self.reduce(op),
            Form::While => self.while_loop(op),
            Form::Scan => self.scan(op),
            Form::Function => self.function(op),
            Form::Module => self.module(op),
        }
    }
}

/// Attributes by name.
type Entries<'o> = Vec<(&'o str, &'o Attribute)>;

/// Splits the attributes into those that the operation's dialect defines, and all others.
fn split(op: &Operation) -> (Entries<'_>, Entries<'_>) {
    let known = dialect::operation(&op.name);
    let is_inherent = |name: &str| {
        known.is_some_and(|info| info.attribute(name).is_some())
            || matches!(name, "operandSegmentSizes" | "resultSegmentSizes")
            || op.name == "arith.constant" && name == "value"
    };
    op.attributes.iter().map(|(name, value)| (name.as_str(), value)).partition(|entry| is_inherent(entry.0))
}

/// Collects the names of the attributes that pieces contain.
fn names_in(pieces: &[Piece], out: &mut Vec<&'static str>) {
    for &piece in pieces {
        match piece {
            Piece::Attribute(name, _) | Piece::Optional(name, ..) => out.push(name),
            Piece::SliceRanges => out.extend(["start_indices", "limit_indices", "strides"]),
            Piece::DotDimensions => out.push("dot_dimension_numbers"),
            Piece::Window => out.extend(dimensions::WINDOW.map(|(name, _)| name)),
            Piece::ExponentMantissa(exponent, mantissa) => out.extend([exponent, mantissa]),
            _ => {}
        }
    }
}

/// Checks whether `part` is a tensor of the real or imaginary parts of `complex`.
fn is_part_of(part: &Type, complex: &Type) -> bool {
    match (part.as_tensor(), complex.as_tensor()) {
        (Some(part), Some(complex)) => {
            matches!(&*complex.element, TypeKind::Complex(of) if *of == part.element)
                && part.dims == complex.dims
                && part.encoding == complex.encoding
        }
        _ => false,
    }
}
