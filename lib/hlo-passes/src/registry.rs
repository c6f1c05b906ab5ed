//! The registry: the list of all passes.

use crate::{PassInfo, backend, checks, collectives, control_flow, expansion, partitioning, simplification};
use hlo_ir::suggest::spelt_alike;
use std::sync::{LazyLock, PoisonError, RwLock};

/// A group of passes with a common purpose. Each group is one folder of the source.
pub struct Group {
    /// The title of the group.
    pub title: &'static str,
    /// The passes, ordered by name.
    pub passes: &'static [&'static PassInfo],
}

/// The groups of passes.
pub static GROUPS: &[Group] = &[
    Group { title: "Simplification", passes: simplification::PASSES },
    Group { title: "Control flow", passes: control_flow::PASSES },
    Group { title: "Expansion", passes: expansion::PASSES },
    Group { title: "Fusion and below", passes: backend::PASSES },
    Group { title: "Collectives", passes: collectives::PASSES },
    Group { title: "Partitioning", passes: partitioning::PASSES },
    Group { title: "Checks", passes: checks::PASSES },
];

/// All passes of this crate, ordered by name.
static PASSES: LazyLock<Vec<&'static PassInfo>> = LazyLock::new(|| {
    let mut all: Vec<&PassInfo> = GROUPS.iter().flat_map(|g| g.passes).copied().collect();
    all.sort_by_key(|p| p.name);
    all
});

/// Returns all passes of this crate, ordered by name.
pub fn passes() -> &'static [&'static PassInfo] {
    &PASSES
}

/// The passes that the program registered: see [`register`].
static OWN: RwLock<Vec<&'static PassInfo>> = RwLock::new(Vec::new());

/// Registers a pass of the program, so that pipelines can use it by its name; see [`PassInfo::own`]. A pass
/// whose name is already in use is ignored. [`passes`] and [`GROUPS`] do not contain registered passes.
///
/// # Example
/// ```
/// use hlo_ir::Op;
/// use hlo_passes::{Pass, PassInfo, Pipeline};
///
/// static NEGATE_TO_ABS: PassInfo = PassInfo::own("negate-to-abs", "Makes `negate` `abs`", |_, _| {
///     Box::new(|module: &mut hlo_ir::Module, _: &mut hlo_passes::Rewrites| {
///         let root = module[module.entry()].root();
///         let is_negate = matches!(module[root].op, Op::Negate);
///         if is_negate {
///             module.set_op(root, Op::Abs);
///         }
///         Ok(is_negate)
///     }) as Box<dyn Pass>
/// });
///
/// hlo_passes::register(&NEGATE_TO_ABS);
/// let text = "ENTRY main { x = f32[] parameter(0) ROOT y = f32[] negate(x) }";
/// let mut module = hlo_parser::parse_module(text).expect("a module");
/// let pipeline = Pipeline::parse("negate-to-abs").expect("a pass that is known");
/// assert_eq!(pipeline.run(&mut module, &mut ()), Ok(true));
/// assert!(matches!(module[module[module.entry()].root()].op, Op::Abs));
/// ```
pub fn register(info: &'static PassInfo) {
    OWN.write().unwrap_or_else(PoisonError::into_inner).push(info);
}

/// Returns the pass with a name.
pub fn find(name: &str) -> Option<&'static PassInfo> {
    let listed = passes().iter().copied().find(|p| p.name == name);
    listed.or_else(|| {
        let own = OWN.read().unwrap_or_else(PoisonError::into_inner);
        own.iter().copied().find(|p| p.name == name)
    })
}

/// Returns the pass with a name, ignoring case and treating `-` and `_` as equal. Does not find registered
/// passes.
pub fn find_alike(name: &str) -> Option<&'static PassInfo> {
    passes().iter().copied().find(|p| spelt_alike(p.name, name))
}

#[cfg(test)]
mod tests {
    use super::passes;
    use crate::PIPELINES;
    use hlo_ir::suggest::spelt_alike;

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Vec<_> = passes().iter().map(|p| p.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(!names.contains(&"fix"), "`fix` belongs to the pipeline language");
        let all: Vec<_> = names.iter().copied().chain(PIPELINES.iter().map(|p| p.name)).collect();
        for (n, name) in all.iter().enumerate() {
            let other = all[..n].iter().find(|other| spelt_alike(name, other));
            assert_eq!(other, None, "`{name}` is read as another name");
        }
    }
}
