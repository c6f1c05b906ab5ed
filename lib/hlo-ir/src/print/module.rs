//! Modules, computations and instructions in text.

use super::PrintOptions;
use super::literal::write_value;
use crate::attr::{Attrs, ComputationNames, EntryLayout, Presence};
use crate::{CommonAttrs, ComputationId, InstrId, Literal, Module, Op, Shape};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::{self, Write};

/// XLA's limit above which a constant is a large one.
const LARGE_CONSTANT: usize = 10;

/// The whole module: header, tables, computations with callees before callers.
pub fn print_module(module: &Module, options: &PrintOptions) -> String {
    let mut p = Printer::new(module, options);
    // Writing to a string does not fail.
    let _ = p.module();
    p.out
}

/// One computation, as it stands in its module, without a line break after it.
pub fn print_computation(module: &Module, id: ComputationId, options: &PrintOptions) -> String {
    let mut p = Printer::new(module, options);
    let _ = p.computation(id);
    p.out
}

/// One instruction, as it stands in its computation, without indentation; `ROOT` is not printed.
pub fn print_instruction(module: &Module, id: InstrId, options: &PrintOptions) -> String {
    let mut p = Printer::new(module, options);
    if options.canonical_names {
        p.number(module[id].parent);
    }
    let _ = p.instruction(id);
    p.out
}

struct Printer<'m> {
    module: &'m Module,
    options: &'m PrintOptions,
    out: String,
    /// How deep inline computations nest.
    depth: usize,
    /// With canonical names: the numbers of the instructions.
    numbers: HashMap<InstrId, usize>,
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module, options: &'m PrintOptions) -> Self {
        Self { module, options, out: String::new(), depth: 0, numbers: HashMap::new() }
    }

    fn percent(&self) -> &'static str {
        if self.options.percent { "%" } else { "" }
    }

    // ---- Module --------------------------------------------------------------------------------------------

    fn module(&mut self) -> fmt::Result {
        self.header()?;
        self.out.push_str("\n\n");
        self.tables()?;
        for id in self.module.computations_post_order() {
            if self.options.inline_computations && id != self.module.entry() {
                continue;
            }
            self.computation(id)?;
            self.out.push_str("\n\n");
        }
        // One line break ends the text.
        self.out.pop();
        Ok(())
    }

    fn header(&mut self) -> fmt::Result {
        let header = &self.module.header;
        write!(self.out, "HloModule {}", self.module.name)?;
        for (index, field) in header.fields().iter().enumerate() {
            if header.is_default(index) {
                continue;
            }
            write!(self.out, ", {}=", field.name)?;
            match &header.entry_computation_layout {
                Some(layout) if field.name == "entry_computation_layout" => self.entry_layout(layout)?,
                _ => header.write_field(index, &mut self.out, &NoNames)?,
            }
        }
        Ok(())
    }

    fn entry_layout(&mut self, layout: &EntryLayout) -> fmt::Result {
        self.out.push_str("{(");
        for (i, shape) in layout.parameters.iter().enumerate() {
            self.separator(i)?;
            self.shape(shape, true)?;
        }
        self.out.push_str(")->");
        self.shape(&layout.result, true)?;
        self.out.push('}');
        Ok(())
    }

    fn tables(&mut self) -> fmt::Result {
        if !self.options.metadata {
            return Ok(());
        }
        let f = &self.module.stack_frames;
        for (name, entries) in [
            ("FileNames", &f.file_names),
            ("FunctionNames", &f.function_names),
            ("FileLocations", &f.file_locations),
            ("StackFrames", &f.stack_frames),
        ] {
            if entries.is_empty() {
                continue;
            }
            writeln!(self.out, "{name}")?;
            for (i, entry) in entries.iter().enumerate() {
                writeln!(self.out, "{} {entry}", i + 1)?;
            }
            self.out.push('\n');
        }
        Ok(())
    }

    /// The comma before entry `i` of a list, with the index that XLA notes before every fifth.
    fn separator(&mut self, i: usize) -> fmt::Result {
        if i > 0 {
            self.out.push_str(", ");
            if self.options.index_annotations && i.is_multiple_of(5) {
                write!(self.out, "/*index={i}*/")?;
            }
        }
        Ok(())
    }

    /// A shape, with its layout if asked for.
    fn shape(&mut self, shape: &Shape, layout: bool) -> fmt::Result {
        match shape {
            // By itself, as `Display` of a tuple always notes indices.
            Shape::Tuple(elements) => {
                self.out.push('(');
                for (i, e) in elements.iter().enumerate() {
                    self.separator(i)?;
                    self.shape(e, layout)?;
                }
                self.out.push(')');
                Ok(())
            }
            other if layout => write!(self.out, "{other:#}"),
            other => write!(self.out, "{other}"),
        }
    }

    // ---- Computations --------------------------------------------------------------------------------------

    fn computation(&mut self, id: ComputationId) -> fmt::Result {
        let c = &self.module[id];
        if self.module.entry() == id {
            self.out.push_str("ENTRY ");
        }
        write!(self.out, "{}{} ", self.percent(), c.name)?;
        if self.options.program_shape {
            self.signature(id)?;
        }
        self.body(id)?;
        if !c.execution_thread.is_empty() {
            write!(self.out, ", execution_thread=\"{}\"", c.execution_thread)?;
        }
        Ok(())
    }

    fn signature(&mut self, id: ComputationId) -> fmt::Result {
        self.out.push('(');
        for (i, p) in self.module.parameters(id).into_iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            write!(self.out, "{}: ", self.module[p].name)?;
            self.shape(&self.module[p].shape, false)?;
        }
        self.out.push_str(") -> ");
        self.shape(&self.module[self.module[id].root()].shape, false)?;
        self.out.push(' ');
        Ok(())
    }

    fn body(&mut self, id: ComputationId) -> fmt::Result {
        if self.options.canonical_names {
            self.number(id);
        }
        self.out.push_str("{\n");
        self.depth += 1;
        let root = self.module[id].root();
        for i in self.module.post_order(id) {
            for _ in 0..self.depth {
                self.out.push_str("  ");
            }
            if i == root {
                self.out.push_str("ROOT ");
            }
            self.instruction(i)?;
            self.out.push('\n');
        }
        self.depth -= 1;
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push('}');
        Ok(())
    }

    /// Numbers the instructions of a computation for canonical names.
    fn number(&mut self, id: ComputationId) {
        for (n, i) in self.module.post_order(id).into_iter().enumerate() {
            self.numbers.insert(i, n);
        }
    }

    // ---- Instructions --------------------------------------------------------------------------------------

    fn name(&mut self, id: InstrId) -> fmt::Result {
        match self.numbers.get(&id) {
            Some(n) => write!(self.out, "tmp_{n}"),
            None => write!(self.out, "{}{}", self.percent(), self.module[id].name),
        }
    }

    fn instruction(&mut self, id: InstrId) -> fmt::Result {
        let i = &self.module[id];
        self.name(id)?;
        self.out.push_str(" = ");
        self.shape(&i.shape, true)?;
        write!(self.out, " {}(", i.op.name())?;
        match &i.op {
            Op::Parameter(p) => write!(self.out, "{}", p.number)?,
            Op::Constant(c) => self.constant(&c.literal, c.elided)?,
            _ => {
                for (n, &operand) in i.operands.iter().enumerate() {
                    self.separator(n)?;
                    if self.options.operand_shapes {
                        self.shape(&self.module[operand].shape, true)?;
                        self.out.push(' ');
                    }
                    self.name(operand)?;
                }
            }
        }
        self.out.push(')');
        self.attributes(&i.op)?;
        match i.common.as_deref() {
            Some(common) => self.common(common),
            None => Ok(()),
        }
    }

    fn constant(&mut self, literal: &Literal, elided: bool) -> fmt::Result {
        let large = match literal.shape() {
            Shape::Array(a) => a.element_count() > LARGE_CONSTANT,
            Shape::Tuple(_) => true,
            _ => false,
        };
        if elided || (large && !self.options.print_large_constants) {
            return self.out.write_str("{...}");
        }
        write_value(&mut self.out, literal, None)
    }

    fn attributes(&mut self, op: &Op) -> fmt::Result {
        let Some(attrs) = op.attrs() else { return Ok(()) };
        for (index, field) in attrs.fields().iter().enumerate() {
            if field.presence == Presence::Optional && attrs.is_default(index) {
                continue;
            }
            write!(self.out, ", {}=", field.name)?;
            // The value is written by the attribute's type, which names computations through `Names`.
            let mut value = String::new();
            let names = Names { printer: RefCell::new(self) };
            attrs.write_field(index, &mut value, &names)?;
            self.out.push_str(&value);
        }
        Ok(())
    }

    fn common(&mut self, c: &CommonAttrs) -> fmt::Result {
        let options = self.options;
        self.text_attribute("sharding", &c.sharding)?;
        self.text_attribute("parameter_replication", &c.parameter_replication)?;
        self.text_attribute("frontend_attributes", &c.frontend_attributes)?;
        if options.control_predecessors && !c.control_predecessors.is_empty() {
            self.out.push_str(", control-predecessors={");
            for (n, &p) in c.control_predecessors.iter().enumerate() {
                if n > 0 {
                    self.out.push_str(", ");
                }
                self.name(p)?;
            }
            self.out.push('}');
        }
        self.text_attribute("statistics", &c.statistics)?;
        self.text_attribute("result_accuracy", &c.result_accuracy)?;
        self.text_attribute("origin", &c.origin)?;
        if options.metadata {
            self.text_attribute("metadata", &c.metadata)?;
        }
        if options.backend_config {
            self.text_attribute("backend_config", &c.backend_config)?;
        }
        Ok(())
    }

    fn text_attribute(&mut self, name: &str, value: &str) -> fmt::Result {
        if value.is_empty() { Ok(()) } else { write!(self.out, ", {name}={value}") }
    }
}

/// For attributes that name no computation.
struct NoNames;

impl ComputationNames for NoNames {
    fn write_computation(&self, _: &mut dyn fmt::Write, _: ComputationId) -> fmt::Result {
        Ok(())
    }
}

/// Computations as attribute values: by name, or in place.
struct Names<'p, 'm> {
    printer: RefCell<&'p mut Printer<'m>>,
}

impl ComputationNames for Names<'_, '_> {
    fn write_computation(&self, f: &mut dyn fmt::Write, id: ComputationId) -> fmt::Result {
        let mut printer = self.printer.borrow_mut();
        if !printer.options.inline_computations {
            return write!(f, "{}{}", printer.percent(), printer.module[id].name);
        }
        // Into a text of its own, as `f` is what comes before it.
        let before = std::mem::take(&mut printer.out);
        let result = printer.body(id);
        let body = std::mem::replace(&mut printer.out, before);
        result?;
        f.write_str(&body)
    }
}
