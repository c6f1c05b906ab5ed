//! Functions: the entry, which keeps the interface of its parameters and results, and called computations,
//! whose tuples are taken apart.

use super::attributes::i32;
use super::common::frontend_attributes;
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::symbols::MAIN;
use super::value::Value;
use crate::tree::{Attribute, Attributes, Block, Name, Operation, Region, Type, TypeKind, ValueId};
use hlo_ir::attr::Sharding;
use hlo_ir::{ComputationId, InstrId, Shape};

/// The parts of a function other than its body.
struct Signature {
    name: Name,
    arguments: Vec<ValueId>,
    results: Vec<Type>,
    argument_attributes: Vec<Attributes>,
    result_attributes: Vec<Attributes>,
}

impl Exporter<'_> {
    /// Returns the symbol of the function for a computation. Queues the computation on first use.
    pub(super) fn function_of(&mut self, computation: ComputationId) -> Name {
        self.functions.name_of(self.module, computation)
    }

    /// Adds all functions to the tree, the entry first.
    pub(super) fn functions(&mut self) {
        let root = self.module[self.module.entry()].root();
        match self.entry() {
            Ok(function) => self.tree.operations_mut().push(function),
            Err(failure) => self.report(root, failure),
        }
        while let Some(computation) = self.functions.next_to_export() {
            match self.called_function(computation) {
                Ok(function) => self.tree.operations_mut().push(function),
                Err(failure) => self.report(self.module[computation].root(), failure),
            }
        }
    }

    fn entry(&mut self) -> Outcome<Operation> {
        let entry = self.module.entry();
        let parameters = self.module.parameters(entry);
        let mut arguments = Vec::new();
        let mut argument_attributes = Vec::new();
        for (number, &parameter) in parameters.iter().enumerate() {
            let ty = self.type_of(parameter)?;
            arguments.push(self.argument(parameter, ty));
            argument_attributes.push(self.argument_attributes(number, parameter));
        }
        let (operations, results) = self.block_of(|e| {
            let mut bound = Vec::new();
            for (&parameter, &argument) in parameters.iter().zip(&arguments) {
                e.start_instruction(parameter);
                bound.push(e.unpacked(parameter, argument, &e.instruction(parameter).shape)?);
            }
            let value = e.computation(entry, bound)?;
            let root = e.module[entry].root();
            e.start_instruction(root);
            let results = e.entry_results(root, &value)?;
            let types = results.iter().map(|&r| e.tree.type_of(r).clone()).collect();
            e.add(Draft::new("func.return", results), Vec::new());
            Ok(types)
        });
        let result_attributes = self.result_attributes(self.module[entry].root());
        let results = results?;
        let name = MAIN.into();
        Ok(function(
            Signature { name, arguments, results, argument_attributes, result_attributes },
            operations,
            self,
        ))
    }

    /// Returns the shapes of the function's results: the elements of a tuple, or the shape itself. A tuple of
    /// one element stays a tuple, because a single result means an array.
    fn result_shapes(root: &Shape) -> &[Shape] {
        match root {
            Shape::Tuple(elements) if elements.len() != 1 => elements,
            one => std::slice::from_ref(one),
        }
    }

    fn entry_results(&mut self, root: InstrId, value: &Value) -> Outcome<Vec<ValueId>> {
        let shape = &self.instruction(root).shape;
        match shape {
            Shape::Tuple(shapes) if shapes.len() != 1 => {
                let pairs = value.elements().iter().zip(shapes);
                pairs.map(|(element, shape)| self.packed(root, element, shape)).collect()
            }
            _ => Ok(vec![self.packed(root, value, shape)?]),
        }
    }

    /// Returns the attributes of an argument of the entry.
    fn argument_attributes(&mut self, number: usize, parameter: InstrId) -> Attributes {
        let mut out = Attributes::default();
        let instruction = self.instruction(parameter);
        if let Some(common) = instruction.common.as_deref() {
            if let Some(sharding) = &common.sharding {
                let (name, sharding) = self.sharding_of_value(sharding, &instruction.shape);
                out.set(name, sharding);
            }
            if let Some(frontend) = frontend_attributes(&common.frontend_attributes) {
                out.set("mhlo.frontend_attributes", frontend);
            }
            if !common.parameter_replication.is_empty() {
                out.set(
                    "mhlo.parameter_replication",
                    Attribute::Array(
                        common.parameter_replication.iter().copied().map(Attribute::Bool).collect(),
                    ),
                );
            }
        }
        let header = &self.module.header;
        let is_this = |parameter: i64| usize::try_from(parameter) == Ok(number);
        let alias = header.input_output_alias.iter().find(|a| is_this(a.parameter));
        if let Some(result) = alias.and_then(|a| self.result_of_alias(a)) {
            out.set("tf.aliasing_output", i32(result));
        }
        if header.buffer_donor.iter().any(|d| is_this(d.parameter) && d.index.is_empty()) {
            out.set("jax.buffer_donor", Attribute::Bool(true));
        }
        self.set_layout(&mut out, self.module.entry_shapes().0.get(number).copied());
        out
    }

    /// Sets the layout of an argument or a result if its shape has one.
    fn set_layout(&self, attributes: &mut Attributes, shape: Option<&Shape>) {
        if let Some(layout) = shape.and_then(Shape::as_array).and_then(|a| a.layout.as_ref()) {
            attributes.set("mhlo.layout_mode", Attribute::string(&layout.to_string()));
        }
    }

    /// Returns the attributes of the entry's results.
    fn result_attributes(&mut self, root: InstrId) -> Vec<Attributes> {
        let instruction = self.instruction(root);
        let shapes = Self::result_shapes(&instruction.shape);
        let sharding = instruction.sharding().map(|s| s.clone().for_shape(&instruction.shape));
        let leaves = sharding.as_ref().map_or(&[][..], Sharding::leaves);
        let laid_out = Self::result_shapes(self.module.entry_shapes().1);
        let mut out = Vec::new();
        let mut leaves = leaves.iter();
        for (number, shape) in shapes.iter().enumerate() {
            let mut attributes = Attributes::default();
            let count = super::value::leaf_shapes(shape).map_or(0, |l| l.len());
            let of: Vec<_> = leaves.by_ref().take(count).cloned().collect();
            let sharding = match (&of[..], shape.is_tuple()) {
                ([], _) => None,
                ([one], false) => Some(Sharding::Single(one.clone())),
                _ => Some(Sharding::Tuple(of)),
            };
            if let Some(sharding) = sharding {
                let (name, sharding) = self.sharding_of_value(&sharding, shape);
                attributes.set(name, sharding);
            }
            self.set_layout(&mut attributes, laid_out.get(number));
            out.push(attributes);
        }
        out
    }

    fn called_function(&mut self, computation: ComputationId) -> Outcome<Operation> {
        let name = self.function_of(computation);
        let root = self.module[computation].root();
        let mut arguments = Vec::new();
        let bound = self.parameters(root, computation, &mut arguments)?;
        let (operations, result) = self.block_of(|e| {
            let value = e.computation(computation, bound)?;
            let leaves = e.leaves_of(root, &value)?;
            e.add(Draft::new("func.return", leaves), Vec::new());
            Ok(())
        });
        result?;
        let results = self.leaf_types(root)?;
        let (argument_attributes, result_attributes) = (Vec::new(), Vec::new());
        Ok(function(
            Signature { name, arguments, results, argument_attributes, result_attributes },
            operations,
            self,
        ))
    }

    /// Adds a call of a computation's function, for an instruction.
    pub(super) fn call_function(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        bound: &[Value],
    ) -> Outcome<Value> {
        let mut operands = Vec::new();
        for value in bound {
            operands.extend(self.leaves_of(id, value)?);
        }
        let shape = &self.module[self.module[computation].root()].shape;
        let types = self.leaf_types_of(id, shape)?;
        let callee = Attribute::Symbol(self.function_of(computation));
        let results = self.add(Draft::new("func.call", operands).with("callee", callee), types);
        self.value_from_leaves(shape, results)
    }
}

/// Returns a `func.func`.
fn function(signature: Signature, operations: Vec<Operation>, exporter: &Exporter<'_>) -> Operation {
    let inputs = signature.arguments.iter().map(|&a| exporter.tree.type_of(a).clone()).collect();
    let ty: Type = TypeKind::Function { inputs, results: signature.results }.into();
    let visibility = if signature.name == MAIN { "public" } else { "private" };
    let mut operation = Operation::new("func.func");
    operation.attributes.set("sym_name", Attribute::string(&signature.name));
    operation.attributes.set("function_type", Attribute::Type(ty));
    operation.attributes.set("sym_visibility", Attribute::string(visibility));
    let lists = [("arg_attrs", signature.argument_attributes), ("res_attrs", signature.result_attributes)];
    for (name, list) in lists {
        if list.iter().any(|attributes| !attributes.is_empty()) {
            let all = list.into_iter().map(|attributes| Attribute::Dictionary(attributes.into()));
            operation.attributes.set(name, Attribute::Array(all.collect()));
        }
    }
    let block = Block { arguments: signature.arguments, operations };
    operation.regions.push(Region { blocks: vec![block] });
    operation
}
