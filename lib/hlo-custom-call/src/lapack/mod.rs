//! LAPACK's routines as JAX and XLA call them: their names, operands, results and attributes, and the layout
//! of the matrices of a call. The numerical computation is not part of this module; its implementer receives
//! a [`Plan`].

mod plan;
mod routine;

use std::sync::Arc;

use crate::{Attributes, CallSite, Function, Target, Targets};
use hlo_ir::ElementType;
use hlo_runtime_core::Error;

pub use plan::{Array, Kind, Plan};
pub use routine::Routine;

/// The common prefix of the names.
const PREFIX: &str = "lapack_";
/// A readable pattern of the names.
const PATTERN: &str = "lapack_{s,d,c,z}{getrf,geqrf,geqp3,orgqr,ungqr,potrf,trsm,gesdd,gesvd,syevd,heevd,\
    geev,gees,gehrd,sytrd,hetrd,ormqr,unmqr,gtsv}_ffi";

/// Targets whose routine uses the element type of the first operand.
const OPERAND_TYPED_TARGETS: &[(Routine, &str)] = &[
    (Routine::Perturbed, "tridiagonal_solve_perturbed_ffi"),
    (Routine::Lu, "LuDecomposition"),
    (Routine::Geqrf, "Qr"),
    (Routine::Orgqr, "ProductOfElementaryHouseholderReflectors"),
    (Routine::Eigh, "Eigh"),
];

/// The names of the routines for real and for complex numbers.
const ROUTINES: &[(Routine, &str, &str)] = &[
    (Routine::Getrf, "getrf", "getrf"),
    (Routine::Geqrf, "geqrf", "geqrf"),
    (Routine::Geqp3, "geqp3", "geqp3"),
    (Routine::Orgqr, "orgqr", "ungqr"),
    (Routine::Ormqr, "ormqr", "unmqr"),
    (Routine::Potrf, "potrf", "potrf"),
    (Routine::Trsm, "trsm", "trsm"),
    (Routine::Gesdd, "gesdd", "gesdd"),
    (Routine::Gesdd, "gesvd", "gesvd"),
    (Routine::Syevd, "syevd", "heevd"),
    (Routine::Geev, "geev", "geev"),
    (Routine::Gees, "gees", "gees"),
    (Routine::Gehrd, "gehrd", "gehrd"),
    (Routine::Sytrd, "sytrd", "hetrd"),
    (Routine::Gtsv, "gtsv", "gtsv"),
];

/// LAPACK's routines as custom call targets. The targets check their calls. The function returns the
/// computation for a checked plan.
#[derive(Clone, Copy, Debug)]
pub struct Routines(pub fn(Plan) -> Result<Arc<Function>, Error>);

impl Targets for Routines {
    fn find(&self, site: &CallSite) -> Option<Result<Target, Error>> {
        let compute = self.0;
        target(
            &site.target,
            move |plan| if plan.is_empty() { Ok(Arc::new(|_| Ok(()))) } else { compute(plan) },
        )
        .map(Ok)
    }

    fn names(&self) -> Vec<String> {
        let others = OPERAND_TYPED_TARGETS.iter().map(|(_, name)| (*name).into());
        let routines = ROUTINES.iter().flat_map(|(_, real, complex)| {
            let named = |letter, name| format!("{PREFIX}{letter}{name}_ffi");
            [named('s', real), named('d', real), named('c', complex), named('z', complex)]
        });
        routines.chain(others).collect()
    }

    fn listed(&self) -> Vec<String> {
        OPERAND_TYPED_TARGETS.iter().map(|(_, name)| (*name).into()).chain([PATTERN.into()]).collect()
    }
}

/// Returns the target with this name, if it is a LAPACK routine.
fn target(
    name: &str,
    compute: impl Fn(Plan) -> Result<Arc<Function>, Error> + Send + Sync + 'static,
) -> Option<Target> {
    if let Some(&(routine, _)) = OPERAND_TYPED_TARGETS.iter().find(|(_, other)| *other == name) {
        return Some(Target::new(move |site, attributes| {
            let attributes = match routine {
                Routine::Eigh => eigh_attributes(&site.config)?,
                _ => attributes.clone(),
            };
            compute(Plan::new(routine, element_of_first(site)?, site, &attributes)?)
        }));
    }
    let (routine, element) = routine(name)?;
    Some(Target::new(move |site, attributes| compute(Plan::new(routine, element, site, attributes)?)))
}

/// Returns whether JAX uses this name for its library's routines, and no other library does.
pub fn is_of_jax(name: &str) -> bool {
    let is_other = |(_, other): &(Routine, &str)| other.ends_with("_ffi") && *other == name;
    OPERAND_TYPED_TARGETS.iter().any(is_other) || routine(name).is_some()
}

/// Returns the LAPACK routine with this name, and its element type.
fn routine(name: &str) -> Option<(Routine, ElementType)> {
    let name = name.strip_prefix(PREFIX)?.strip_suffix("_ffi")?;
    let (letter, name) = name.split_at_checked(1)?;
    let element = match letter {
        "s" => ElementType::F32,
        "d" => ElementType::F64,
        "c" => ElementType::C64,
        "z" => ElementType::C128,
        _ => return None,
    };
    let is_named = |real, complex| name == if element.is_complex() { complex } else { real };
    ROUTINES.iter().find(|(_, real, complex)| is_named(*real, *complex)).map(|r| (r.0, element))
}

/// Returns the element type of the first operand.
fn element_of_first(site: &CallSite) -> Result<ElementType, Error> {
    let arrays = site.operand_arrays();
    let name = &arrays.first().ok_or_else(|| Error("takes an array".into()))?.element;
    let known = [ElementType::F32, ElementType::F64, ElementType::C64, ElementType::C128];
    let found = known.into_iter().find(|e| e.name() == name);
    found.ok_or_else(|| Error(format!("takes f32, f64, c64 or c128, found {name}")))
}

/// Returns the attributes of `Eigh`. Its configuration is a list of numbers. The first number is 1 for the
/// lower triangle and 0 for the upper one. The others configure an iterative algorithm that is not used here.
fn eigh_attributes(config: &[u8]) -> Result<Attributes, Error> {
    let uplo = match config.split(|&c| c == b',').next().map(<[u8]>::trim_ascii) {
        Some(b"1") => 'L',
        Some(b"0") => 'U',
        _ => {
            return Err(Error(
                "has a configuration such as `1,1,100,1e-6`: the first number is 0 or 1".into(),
            ));
        }
    };
    Attributes::parse(format!("{{mode = 86 : ui8, uplo = {} : ui8}}", uplo as u32).as_bytes())
}
