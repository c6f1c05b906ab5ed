//! Printing of instruction attributes.

use super::module::Printer;
use crate::attr::{Attrs, ComputationNames, Presence, ReplicaGroups};
use crate::{CommonAttrs, CommonField, ComputationId, InstrId, Op};
use std::cell::RefCell;
use std::fmt::{self, Write};

/// Maximum number of devices in replica groups that are printed as lists.
const MAX_LISTED_DEVICES: usize = 1 << 20;

/// Special cases for the attributes of some opcodes.
#[derive(Clone, Copy, Default)]
struct Style<'m> {
    /// XLA's name for a computation that is printed inline, if it differs from the attribute's name.
    in_place_name: Option<&'m str>,
    /// The replica groups to print as lists.
    replica_groups: Option<&'m ReplicaGroups>,
}

fn replica_groups(op: &Op) -> Option<&ReplicaGroups> {
    match op {
        Op::AllGather(a) | Op::AllGatherStart(a) => Some(&a.replica_groups),
        Op::AllReduce(a) | Op::AllReduceStart(a) => Some(&a.replica_groups),
        Op::ReduceScatter(a) => Some(&a.replica_groups),
        Op::AllToAll(a) => Some(&a.replica_groups),
        Op::RaggedAllToAll(a) => Some(&a.replica_groups),
        Op::CollectiveBroadcast(a) => Some(&a.replica_groups),
        _ => None,
    }
}

impl Printer<'_> {
    /// Writes the attributes of an operation.
    pub(super) fn attributes(&self, out: &mut String, op: &Op, depth: usize) -> fmt::Result {
        match op.attrs() {
            Some(attrs) => {
                let style = Style {
                    in_place_name: matches!(op, Op::ReduceScatter(_) | Op::Scan(_)).then_some("calls"),
                    replica_groups: replica_groups(op).filter(|_| self.options.essential_constants_only),
                };
                self.fields(out, attrs, depth, style, |_| true)
            }
            None => Ok(()),
        }
    }

    /// Writes the attributes of an asynchronous instruction in the short form for `wrapped`: its thread, the
    /// attributes of the operation, then the aliases.
    pub(super) fn short_form_attributes(
        &self,
        out: &mut String,
        op: &Op,
        wrapped: InstrId,
        depth: usize,
    ) -> fmt::Result {
        let start = match op {
            Op::AsyncStart(start) => start,
            Op::AsyncUpdate(a) => {
                return self
                    .fields(out, a, depth, Style::default(), |name| name == "output_to_operand_aliasing");
            }
            _ => return Ok(()),
        };
        let aliases = |name: &str| name == "output_to_operand_aliasing";
        self.fields(out, start, depth, Style::default(), |name| name != "calls" && !aliases(name))?;
        self.attributes(out, &self.module[wrapped].op, depth)?;
        self.fields(out, start, depth, Style::default(), aliases)?;
        if self.inline {
            self.fields(out, start, depth, Style::default(), |name| name == "calls")?;
        }
        Ok(())
    }

    /// Writes the attributes whose names satisfy `wanted`.
    fn fields(
        &self,
        out: &mut String,
        attrs: &dyn Attrs,
        depth: usize,
        style: Style<'_>,
        wanted: impl Fn(&str) -> bool,
    ) -> fmt::Result {
        let names = Names { printer: self };
        for (index, field) in attrs.fields().iter().enumerate() {
            if (field.presence == Presence::Optional && attrs.is_default(index)) || !wanted(field.name) {
                continue;
            }
            if self.options.essential_constants_only
                && matches!(field.name, "infeed_config" | "outfeed_config")
            {
                continue;
            }
            out.push_str(", ");
            if self.inline && self.in_place(out, attrs, index, style.in_place_name, depth)? {
                continue;
            }
            out.push_str(field.name);
            out.push('=');
            let groups = style.replica_groups.filter(|_| field.name == "replica_groups");
            match groups.and_then(|g| g.expand(MAX_LISTED_DEVICES).ok()) {
                Some(lists) => write!(out, "{}", ReplicaGroups::Lists(lists))?,
                None => attrs.write_field(index, out, &names)?,
            }
        }
        Ok(())
    }

    /// Writes field number `index` with its computations printed inline. Returns false if it names no
    /// computation.
    fn in_place(
        &self,
        out: &mut String,
        attrs: &dyn Attrs,
        index: usize,
        name: Option<&str>,
        depth: usize,
    ) -> Result<bool, fmt::Error> {
        let called = Collected::default();
        let mut around = String::new();
        attrs.write_field(index, &mut around, &called)?;
        let called = called.0.into_inner();
        if called.is_empty() {
            return Ok(false);
        }
        out.push_str(name.unwrap_or(attrs.fields()[index].name));
        // A list already has braces.
        let list = around.starts_with('{');
        out.push_str(if list { "={" } else { "=" });
        for (n, &c) in called.iter().enumerate() {
            out.push_str(if n > 0 { ",\n" } else { "\n" });
            out.extend(std::iter::repeat_n("  ", depth));
            // Inside another computation, XLA ignores the schedule.
            self.body(out, c, &self.module.dependency_order(c), depth)?;
            self.execution_thread(out, c)?;
        }
        if list {
            out.push_str("\n}");
        }
        Ok(true)
    }

    /// Writes the attributes that every opcode accepts.
    pub(super) fn common(&self, out: &mut String, c: &CommonAttrs) -> fmt::Result {
        let options = self.options;
        for &field in CommonField::ALL {
            let wanted = match field {
                CommonField::ControlPredecessors => options.control_predecessors,
                CommonField::Metadata => options.metadata,
                CommonField::BackendConfig => options.backend_config,
                CommonField::ParameterReplication => options.names,
                _ => true,
            };
            if !wanted || c.is_default(field) {
                continue;
            }
            out.push_str(", ");
            out.push_str(field.name());
            out.push('=');
            if field == CommonField::ControlPredecessors {
                self.control_predecessors(out, &c.control_predecessors);
            } else {
                c.write_field(field, out, &Names { printer: self })?;
            }
        }
        Ok(())
    }

    fn control_predecessors(&self, out: &mut String, predecessors: &[InstrId]) {
        out.push('{');
        for (n, &p) in predecessors.iter().enumerate() {
            out.push_str(if n > 0 { ", " } else { "" });
            self.name(out, p);
        }
        out.push('}');
    }
}

/// Writes computations in attribute values as names.
struct Names<'p, 'm> {
    printer: &'p Printer<'m>,
}

impl ComputationNames for Names<'_, '_> {
    fn write_computation(&self, f: &mut dyn fmt::Write, id: ComputationId) -> fmt::Result {
        let name = &self.printer.module[id].name;
        f.write_str(self.printer.percent(name))?;
        f.write_str(name)
    }

    fn writes_metadata(&self) -> bool {
        self.printer.options.metadata
    }
}

/// Collects the computations in an attribute value.
#[derive(Default)]
struct Collected(RefCell<Vec<ComputationId>>);

impl ComputationNames for Collected {
    fn write_computation(&self, _: &mut dyn fmt::Write, id: ComputationId) -> fmt::Result {
        self.0.borrow_mut().push(id);
        Ok(())
    }
}
