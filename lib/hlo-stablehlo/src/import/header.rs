//! Properties of the whole program: numbers of devices, donation, layouts.

use super::attributes::bytes;
use super::entry::{attributes_of, frontend_of};
use super::failure::Result;
use super::importer::Importer;
use crate::tree::{Attribute, Operation};
use hlo_ir::attr::{BufferDonor, Count, EntryLayout, InputOutputAlias, LayoutModes};
use hlo_ir::{ArrayShape, ComputationId, InstrId, Layout, LayoutItems, Shape};

impl Importer<'_> {
    /// Sets the entry and the module header, from the attributes of the module and of `main`.
    pub fn header(&mut self, entry: ComputationId) {
        self.module.set_entry(entry);
        let module = &self.tree.module;
        let said = self.counts(module).and_then(|()| match self.entry_function() {
            Ok(main) => self.donations(main, entry).and_then(|()| self.entry_layout(main, entry)),
            Err(_) => Ok(()),
        });
        if let Err(failure) = said {
            self.report(failure);
        }
        if let Some(notes) = module.attribute("mhlo.frontend_attributes") {
            self.module.header.frontend_attributes = frontend_of(notes);
        }
        if let Some(modes) = self.entry_function().ok().and_then(result_modes) {
            self.module
                .header
                .frontend_attributes
                .set(LayoutModes::OF_RESULTS, modes.to_string().as_str().into());
        }
    }

    fn counts(&mut self, module: &Operation) -> Result<()> {
        let count = |name: &str| match module.int_or(name, 1)? {
            n if n >= 1 => Ok(Count(n)),
            n => module.fail(format!("`{name}` is {n}")),
        };
        self.module.header.num_partitions = count("mhlo.num_partitions")?;
        self.module.header.replica_count = count("mhlo.num_replicas")?;
        Ok(())
    }

    /// Sets the aliases between results and arguments, and the arguments that are donated.
    fn donations(&mut self, main: &Operation, entry: ComputationId) -> Result<()> {
        let parameters = self.module.parameters(entry);
        let results = main.body().and_then(|b| b.terminator()).map_or(0, |last| last.operands.len());
        let mut aliases = module_aliases(&self.tree.module)?;
        for number in 0..parameters.len() {
            let Some(attributes) = attributes_of(main, "arg_attrs", number) else { continue };
            let parameter = number as i64;
            if attributes.get("jax.buffer_donor").and_then(Attribute::as_bool) == Some(true) {
                self.module.header.buffer_donor.push(BufferDonor { parameter, index: Vec::new() });
            }
            let Some(output) = attributes.get("tf.aliasing_output") else { continue };
            let output = output.as_int().filter(|&n| usize::try_from(n).is_ok_and(|n| n < results));
            let Some(output) = output else {
                return main
                    .fail(format!("`tf.aliasing_output` of argument {number} is the number of no result"));
            };
            let output = if results == 1 { Vec::new() } else { vec![output] };
            aliases.push(InputOutputAlias { output, parameter, parameter_index: Vec::new(), must: false });
        }
        // Sort by result. If a result has several aliases, the first one counts.
        aliases.sort_by(|a, b| a.output.cmp(&b.output));
        aliases.dedup_by(|later, first| later.output == first.output);
        self.module.header.input_output_alias = aliases;
        Ok(())
    }

    /// Sets the entry layout: the shapes of arguments and results as callers see them.
    fn entry_layout(&mut self, main: &Operation, entry: ComputationId) -> Result<()> {
        let shape = |id: &InstrId| self.module[*id].shape.clone();
        let mut parameters: Vec<Shape> = self.module.parameters(entry).iter().map(shape).collect();
        let mut result = shape(&self.module[entry].root());
        for (number, parameter) in parameters.iter_mut().enumerate() {
            lay_out(main, ("arg_attrs", number), parameter)?;
        }
        let results = main.body().and_then(|b| b.terminator()).map_or(0, |last| last.operands.len());
        match &mut result {
            Shape::Tuple(elements) if results != 1 => {
                for (number, element) in elements.to_mut().iter_mut().enumerate() {
                    lay_out(main, ("res_attrs", number), element)?;
                }
            }
            one => lay_out(main, ("res_attrs", 0), one)?,
        }
        self.module.header.entry_computation_layout = Some(EntryLayout { parameters, result });
        Ok(())
    }
}

/// Returns the layout modes of the results, if the compiler chooses the layout of one of them.
fn result_modes(main: &Operation) -> Option<LayoutModes> {
    let results = main.body()?.terminator()?.operands.len();
    let mode = |number: usize| -> String {
        let said = attributes_of(main, "res_attrs", number).and_then(|a| a.get("mhlo.layout_mode")?.as_str());
        said.filter(|mode| !mode.is_empty()).unwrap_or(LayoutModes::DEFAULT).into()
    };
    let modes = LayoutModes((0..results).map(mode).collect());
    modes.0.iter().any(|mode| mode == LayoutModes::AUTO).then_some(modes)
}

/// Sets the layout of an array from the attributes of an argument or a result.
fn lay_out(main: &Operation, (list, index): (&str, usize), shape: &mut Shape) -> Result<()> {
    let (Some(attributes), Shape::Array(array)) = (attributes_of(main, list, index), shape) else {
        return Ok(());
    };
    if let Some(mode) = attributes.get("mhlo.layout_mode") {
        let wrong = || {
            main.failure(format!("`mhlo.layout_mode` of entry {index} of `{list}` is no layout of {array}"))
        };
        let mode = mode.as_str().ok_or_else(wrong)?;
        if !matches!(mode, "default" | "auto" | "") {
            let order = minor_to_major(mode, array.rank()).ok_or_else(wrong)?;
            *array = array.clone().with_layout(Layout::new(order));
        }
    }
    if attributes.get("mhlo.memory_kind").and_then(bytes).is_some_and(|kind| kind == "pinned_host") {
        *array = in_host_memory(array);
    }
    Ok(())
}

fn in_host_memory(array: &ArrayShape) -> ArrayShape {
    let layout = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank()));
    let items = layout.items().cloned().unwrap_or_default();
    array
        .clone()
        .with_layout(layout.with_items(LayoutItems { memory_space: LayoutItems::HOST_MEMORY, ..items }))
}

/// Parses the dimension order of a layout such as `{0,1:T(8,128)}`. Tiles and other items are ignored.
fn minor_to_major(text: &str, rank: usize) -> Option<Vec<u32>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let order = inner.split_once(':').map_or(inner, |(order, _)| order);
    let numbers = order.split(',').map(str::trim).filter(|n| !n.is_empty());
    let order: Vec<u32> = numbers.map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let is_permutation = sorted.iter().enumerate().all(|(at, &n)| n as usize == at) && order.len() == rank;
    is_permutation.then_some(order)
}

/// Reads `mhlo.input_output_alias` of the module: a list of `{alias = {kind, parameter_index,
/// parameter_number}, output_index}`.
fn module_aliases(module: &Operation) -> Result<Vec<InputOutputAlias>> {
    let Some(attribute) = module.attribute("mhlo.input_output_alias") else { return Ok(Vec::new()) };
    let one = |entry: &Attribute| {
        let Attribute::Dictionary(entry) = entry else { return None };
        let Some(Attribute::Dictionary(alias)) = entry.get("alias") else { return None };
        Some(InputOutputAlias {
            output: entry.get("output_index")?.ints()?,
            parameter: alias.get("parameter_number")?.as_int()?,
            parameter_index: alias.get("parameter_index")?.ints()?,
            must: alias.get("kind").and_then(Attribute::as_str) == Some("must_alias"),
        })
    };
    let list = attribute.as_array().and_then(|list| list.iter().map(one).collect());
    list.ok_or_else(|| module.failure("`mhlo.input_output_alias` is no list of aliases"))
}
