//! Scopes, which set the metadata, the sharding or the source line of the instructions that are added in
//! them.

use crate::Builder;
use hlo_ir::attr::{OpMetadata, Sharding};
use std::panic::Location;

/// A scope. While it exists, added instructions get the metadata, the sharding or the source line that it was
/// created with. Scopes nest, and the one that was created last takes effect.
#[derive(Debug)]
#[must_use = "a scope ends when it is dropped"]
pub struct Scope<'b> {
    builder: &'b Builder,
    /// The number of the scope. It identifies the scope, because scopes may end in another order than they
    /// began in.
    number: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Metadata,
    Sharding,
    Line,
}

impl Builder {
    /// Sets the metadata of added instructions until the scope ends. If the metadata names no source, the
    /// source line is recorded too.
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

    /// Sets the sharding of added instructions, or none, until the scope ends.
    pub fn sharding_scope(&self, sharding: Option<Sharding>) -> Scope<'_> {
        let state = &mut *self.state.borrow_mut();
        state.scopes += 1;
        state.shardings.push((state.scopes, sharding));
        Scope { builder: self, number: state.scopes, kind: Kind::Sharding }
    }

    /// Records this source line for instructions and errors until the scope ends, instead of the line that
    /// adds them. Use it when instructions are added later than the code that they belong to.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    /// use std::panic::Location;
    ///
    /// /// A function whose instructions are of the line that calls it.
    /// #[track_caller]
    /// fn quadrupled<'b>(x: hlo_builder::Value<'b>) -> hlo_builder::Value<'b> {
    ///     let _scope = x.builder().line_scope(Location::caller());
    ///     let twice = x + x;
    ///     twice + twice
    /// }
    ///
    /// let b = Builder::new("lines");
    /// quadrupled(b.constant_r0(2.0f32));
    /// let (module, here) = (b.build()?, line!() - 1);
    /// let metadata = &module[module[module.entry()].root()].common.as_ref().expect("metadata").metadata;
    /// assert_eq!(metadata.source_line as u32, here);
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    pub fn line_scope(&self, line: &'static Location<'static>) -> Scope<'_> {
        let state = &mut *self.state.borrow_mut();
        state.scopes += 1;
        state.lines.push((state.scopes, line));
        Scope { builder: self, number: state.scopes, kind: Kind::Line }
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let mut state = self.builder.state.borrow_mut();
        match self.kind {
            Kind::Metadata => state.metadata.retain(|(n, _)| *n != self.number),
            Kind::Sharding => state.shardings.retain(|(n, _)| *n != self.number),
            Kind::Line => state.lines.retain(|(n, _)| *n != self.number),
        }
    }
}
