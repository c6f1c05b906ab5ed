//! The symbols of a program: its functions and meshes.

use crate::tree::{Attribute, Name, Operation};
use hlo_ir::attr::{MAX_SHARDED_DEVICES, Mesh};
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::{HashMap, HashSet, VecDeque};

/// The name of the entry function.
pub(super) const MAIN: &str = "main";

/// Maximum number of instructions of a computation that is copied to each use.
const MAX_COPIED: usize = 64;

/// The functions of a program, and all symbols.
#[derive(Debug, Default)]
pub(super) struct Functions {
    names: HashMap<ComputationId, Name>,
    symbols: HashSet<Name>,
    /// Functions that are called but not exported so far.
    queue: VecDeque<ComputationId>,
    /// The number of uses of each computation, computed on first use.
    users: Option<HashMap<ComputationId, usize>>,
}

impl Functions {
    /// Returns a new symbol: `base`, or `base` with a number.
    pub(super) fn symbol(&mut self, base: &str) -> Name {
        let mut name = Name::from(base);
        let mut number = 0;
        while name == MAIN || !self.symbols.insert(name.clone()) {
            name = format!("{base}_{number}").into();
            number += 1;
        }
        name
    }

    /// Returns the symbol of the function for a computation. Queues the computation on first use.
    pub(super) fn name_of(&mut self, module: &Module, computation: ComputationId) -> Name {
        if let Some(name) = self.names.get(&computation) {
            return name.clone();
        }
        let name = self.symbol(&sanitized(&module[computation].name));
        self.names.insert(computation, name.clone());
        self.queue.push_back(computation);
        name
    }

    /// Takes the first function that is called but not exported so far.
    pub(super) fn next_to_export(&mut self) -> Option<ComputationId> {
        self.queue.pop_front()
    }

    /// Checks whether a computation becomes a function that is called at each use. This is the case if it has
    /// several uses and copies would make the program much longer: the computation is long or applies others.
    pub(super) fn becomes_function(&mut self, module: &Module, computation: ComputationId) -> bool {
        let users = self.users.get_or_insert_with(|| users_of(module));
        let instructions = module[computation].instructions();
        let applies = |&i: &InstrId| !module[i].op.called_computations().is_empty();
        users.get(&computation).is_some_and(|&n| n > 1)
            && (instructions.len() > MAX_COPIED || instructions.iter().any(applies))
    }
}

/// Returns the number of uses of each computation. An instruction may apply a computation several times.
fn users_of(module: &Module) -> HashMap<ComputationId, usize> {
    let mut users = HashMap::new();
    let instructions = module.computations().flat_map(|c| module[c].instructions());
    for callee in instructions.flat_map(|&i| module[i].op.called_computations()) {
        *users.entry(callee).or_default() += 1;
    }
    users
}

/// Returns a function name as XLA's translation writes it.
fn sanitized(name: &str) -> String {
    name.replace('-', "_")
}

/// The distinct meshes of a program.
#[derive(Debug, Default)]
pub(super) struct Meshes {
    names: HashMap<Mesh, Name>,
    operations: Vec<Operation>,
}

impl Meshes {
    /// Returns the operations that define the meshes.
    pub(super) fn operations(&mut self) -> Vec<Operation> {
        std::mem::take(&mut self.operations)
    }

    /// Returns the symbol of a mesh, which is defined on first use. Returns `None` if the mesh has too many
    /// devices to list.
    pub(super) fn name_of(&mut self, mesh: &Mesh, functions: &mut Functions) -> Option<Name> {
        if let Some(name) = self.names.get(mesh) {
            return Some(name.clone());
        }
        let devices = match &mesh.device_ids {
            Some(order) => Some(Attribute::i64s(order.expand(MAX_SHARDED_DEVICES).ok()?)),
            None => None,
        };
        let of_axis = |a: &hlo_ir::attr::MeshAxis| {
            let name = Attribute::String(a.name.as_bytes().into());
            Attribute::of_fields("sdy.mesh_axis", [("name", name), ("size", Attribute::i64(a.size))])
        };
        let listed = Attribute::Array(mesh.axes.iter().map(of_axis).collect());
        let devices = devices.map(|devices| ("device_ids", devices));
        let value = Attribute::of_fields("sdy.mesh", [("axes", listed)].into_iter().chain(devices));
        let name = functions.symbol("mesh");
        let mut operation = Operation::new("sdy.mesh");
        operation.attributes.set("sym_name", Attribute::string(&name));
        operation.attributes.set("mesh", value);
        self.operations.push(operation);
        self.names.insert(mesh.clone(), name.clone());
        Some(name)
    }
}
