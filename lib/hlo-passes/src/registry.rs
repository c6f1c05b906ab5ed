//! The list of all passes.

use crate::{PassInfo, backend, checks, collectives, control_flow, expansion, partitioning, simplification};
use hlo_ir::suggest::spelt_alike;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Passes of one purpose: those of a folder.
pub struct Group {
    /// What they are called together.
    pub title: &'static str,
    /// The passes, by name.
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

/// Every pass, by name.
static PASSES: LazyLock<Vec<&'static PassInfo>> = LazyLock::new(|| {
    let mut all: Vec<&PassInfo> = GROUPS.iter().flat_map(|g| g.passes).copied().collect();
    all.sort_by_key(|p| p.name);
    all
});

/// Every pass, by name.
pub fn passes() -> &'static [&'static PassInfo] {
    &PASSES
}

/// The passes of the program itself: see [`register`].
static OWN: RwLock<Vec<&'static PassInfo>> = RwLock::new(Vec::new());

/// Makes a pass of the program's own known to pipelines, by its name; see [`PassInfo::own`]. One of a name that is
/// known already is not used. [`passes`] and [`GROUPS`] do not list it.
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

/// The pass of a name.
pub fn find(name: &str) -> Option<&'static PassInfo> {
    let listed = passes().iter().copied().find(|p| p.name == name);
    listed.or_else(|| {
        let own = OWN.read().unwrap_or_else(PoisonError::into_inner);
        own.iter().copied().find(|p| p.name == name)
    })
}

/// The pass of a name, however `-`, `_` and case are written.
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
