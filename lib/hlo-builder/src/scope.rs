//! What instructions are given while a scope lasts: metadata and shardings.

use crate::Builder;
use hlo_ir::attr::{OpMetadata, Sharding};

/// While it is there, instructions that are added have the metadata, or the sharding, that it was made with. Scopes nest: the
/// one that was made last counts.
#[derive(Debug)]
#[must_use = "a scope ends when it is dropped"]
pub struct Scope<'b> {
    builder: &'b Builder,
    /// Scopes may end in another order than they began in.
    number: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Metadata,
    Sharding,
}

impl Builder {
    /// Until the scope ends, instructions have this metadata; the line of the program is noted where it names no source.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    /// use hlo_ir::attr::OpMetadata;
    ///
    /// let b = Builder::new("scopes");
    /// let x = b.constant_r0(2.0f32);
    /// {
    ///     let _scope = b.metadata_scope(OpMetadata { op_name: "layer1/square".into(), ..OpMetadata::default() });
    ///     x.square();
    /// }
    /// let module = b.build()?;
    /// let root = module[module.entry()].root();
    /// let metadata = &module[root].common.as_ref().expect("metadata").metadata;
    /// assert_eq!(metadata.op_name.as_str(), Some("layer1/square"));
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    pub fn metadata_scope(&self, metadata: OpMetadata) -> Scope<'_> {
        let state = &mut *self.state.borrow_mut();
        state.scopes += 1;
        state.metadata.push((state.scopes, metadata));
        Scope { builder: self, number: state.scopes, kind: Kind::Metadata }
    }

    /// Until the scope ends, instructions have this sharding, or none.
    pub fn sharding_scope(&self, sharding: Option<Sharding>) -> Scope<'_> {
        let state = &mut *self.state.borrow_mut();
        state.scopes += 1;
        state.shardings.push((state.scopes, sharding));
        Scope { builder: self, number: state.scopes, kind: Kind::Sharding }
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let mut state = self.builder.state.borrow_mut();
        match self.kind {
            Kind::Metadata => state.metadata.retain(|(n, _)| *n != self.number),
            Kind::Sharding => state.shardings.retain(|(n, _)| *n != self.number),
        }
    }
}
