//! The registry: the list of all passes.

use crate::pass_info::PassInfo;
use crate::{backend, collectives, control_flow, expansion, partitioning, simplification};
use hlo_ir::suggest::equal_ignoring_spelling;
use std::sync::{PoisonError, RwLock};

/// A group of passes with a common purpose. Each group is one folder of the source of a crate.
#[derive(Clone, Copy)]
pub struct Group {
    /// The title of the group.
    pub title: &'static str,
    /// The passes, ordered by name.
    pub passes: &'static [&'static PassInfo],
}

/// The groups of passes of this crate.
static GROUPS: &[Group] = &[
    Group { title: "Simplification", passes: simplification::PASSES },
    Group { title: "Control flow", passes: control_flow::PASSES },
    Group { title: "Expansion", passes: expansion::PASSES },
    Group { title: "Fusion and below", passes: backend::PASSES },
    Group { title: "Collectives", passes: collectives::PASSES },
    Group { title: "Partitioning", passes: partitioning::PASSES },
];

/// The groups that other crates registered: see [`register_groups`].
static REGISTERED_GROUPS: RwLock<Vec<Group>> = RwLock::new(Vec::new());

/// Registers the passes of another crate. [`passes`] and [`groups`] contain them from now on. Call this function once for
/// each group, before you read a pipeline that names its passes. A registered group has precedence over the passes of
/// [`register`].
pub fn register_groups(groups: &[Group]) {
    REGISTERED_GROUPS.write().unwrap_or_else(PoisonError::into_inner).extend_from_slice(groups);
}

/// Returns whether another crate registered passes.
pub(crate) fn has_registered_groups() -> bool {
    !REGISTERED_GROUPS.read().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// Returns the titles of all groups with their passes, ordered by name. Groups with the same title are one.
pub fn groups() -> Vec<(&'static str, Vec<&'static PassInfo>)> {
    let registered = REGISTERED_GROUPS.read().unwrap_or_else(PoisonError::into_inner);
    let mut all: Vec<(&str, Vec<&PassInfo>)> = Vec::new();
    for group in GROUPS.iter().chain(registered.iter()) {
        match all.iter_mut().find(|(title, _)| *title == group.title) {
            Some((_, passes)) => passes.extend(group.passes),
            None => all.push((group.title, group.passes.to_vec())),
        }
    }
    all.iter_mut().for_each(|(_, passes)| passes.sort_by_key(|p| p.name));
    all
}

/// Returns all passes of this crate and of the registered groups, ordered by name.
pub fn passes() -> Vec<&'static PassInfo> {
    let mut all: Vec<&PassInfo> = groups().into_iter().flat_map(|(_, passes)| passes).collect();
    all.sort_by_key(|p| p.name);
    all
}

/// The passes that the program registered: see [`register`].
static REGISTERED_PASSES: RwLock<Vec<&'static PassInfo>> = RwLock::new(Vec::new());

/// Registers a pass of the program, so that pipelines can use it by its name; see [`PassInfo::own`]. A pass
/// whose name is already in use is ignored. [`passes`] and [`groups`] do not contain the pass.
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
    REGISTERED_PASSES.write().unwrap_or_else(PoisonError::into_inner).push(info);
}

/// Returns the pass with a name. Finds passes of all three sources: this crate, registered groups, and [`register`].
pub fn find(name: &str) -> Option<&'static PassInfo> {
    find_grouped(|p| p.name == name).or_else(|| {
        let own = REGISTERED_PASSES.read().unwrap_or_else(PoisonError::into_inner);
        own.iter().copied().find(|p| p.name == name)
    })
}

/// Returns the pass with a name, ignoring case and treating `-` and `_` as equal. Does not find passes of [`register`].
pub fn find_ignoring_case(name: &str) -> Option<&'static PassInfo> {
    find_grouped(|p| equal_ignoring_spelling(p.name, name))
}

/// Returns the first pass of a group that `is_wanted` accepts.
fn find_grouped(is_wanted: impl Fn(&PassInfo) -> bool) -> Option<&'static PassInfo> {
    let registered = REGISTERED_GROUPS.read().unwrap_or_else(PoisonError::into_inner);
    let mut all = GROUPS.iter().chain(registered.iter()).flat_map(|group| group.passes);
    all.find(|p| is_wanted(p)).copied()
}
