//! Keys of kernels. Kernels with equal keys have the same code.

use crate::{Body, KernelSpec, Source};
use hlo_ir::attr::ComputationNames;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;
use std::fmt::Write;

struct Inline<'a> {
    module: &'a Module,
}

impl ComputationNames for Inline<'_> {
    /// Writes the contents of the computation instead of its name.
    fn write_computation(&self, f: &mut dyn Write, id: ComputationId) -> std::fmt::Result {
        let order = self.module.post_order(id);
        let number: HashMap<InstrId, usize> = order.iter().enumerate().map(|(n, &i)| (i, n)).collect();
        f.write_str("{")?;
        for &i in &order {
            self.write_instruction(f, i, &|o| format!("%{}", number.get(&o).copied().unwrap_or(usize::MAX)))?;
        }
        write!(f, "root {}}}", number.get(&self.module[id].root()).copied().unwrap_or(usize::MAX))
    }
}

impl Inline<'_> {
    fn write_instruction(
        &self,
        f: &mut dyn Write,
        id: InstrId,
        operand: &dyn Fn(InstrId) -> String,
    ) -> std::fmt::Result {
        let instr = &self.module[id];
        write!(f, "{:#} {}(", instr.shape, instr.op.name())?;
        match &instr.op {
            Op::Parameter(p) => write!(f, "{}", p.number)?,
            Op::Constant(c) => {
                for byte in c.literal.leaves().iter().flat_map(|l| l.bytes()) {
                    write!(f, "{byte:02x}")?;
                }
            }
            _ => {}
        }
        for &o in &instr.operands {
            write!(f, "{},", operand(o))?;
        }
        f.write_str(")")?;
        if let Some(attrs) = instr.op.attrs() {
            for (n, field) in attrs.fields().iter().enumerate() {
                if !attrs.is_default(n) {
                    write!(f, " {}=", field.name)?;
                    attrs.write_field(n, f, self)?;
                }
            }
        }
        f.write_str(";")
    }
}

/// Returns the text that identifies a kernel: its instructions with shapes, layouts and attributes, and the
/// buffer of each operand and result.
pub fn of(body: &Body<'_>, spec: &KernelSpec) -> String {
    let inline = Inline { module: body.module };
    let number: HashMap<InstrId, usize> = body.computed.iter().enumerate().map(|(n, &i)| (i, n)).collect();
    let mut out = String::new();
    let operand = |o: InstrId| match (body.sources.get(&o), number.get(&o)) {
        (Some(Source::Slot(s)), _) => format!("b{s}:{:#}", body.module[o].shape),
        (Some(Source::Constant(c)), _) => match &body.module[*c].op {
            Op::Constant(c) => format!("{:#}{:02x?}", c.literal.shape(), c.literal.bytes()),
            _ => "?".into(),
        },
        (None, Some(n)) => format!("%{n}"),
        (None, None) => "?".into(),
    };
    let write = |out: &mut String| -> std::fmt::Result {
        for &i in &body.computed {
            inline.write_instruction(out, i, &operand)?;
        }
        for root in &body.roots {
            write!(out, "-> {}.{} b{};", operand(root.id), root.leaf, root.slot)?;
        }
        write!(out, "{}", spec.slots)
    };
    // Writing to a string cannot fail.
    let _ = write(&mut out);
    out
}
