//! Answers the questions of attribute readers: which computation a name denotes, and which shape, literal or
//! module a text describes. An attribute may contain the text of a module, which is then parsed like any other.

use crate::parse::parse_module;
use crate::parser::Computations;
use crate::{literal, shape};
use hlo_ir::attr::{AttrContext, AttrError, AttrReader, InlineComputation, Resolver};
use hlo_ir::cursor::Cursor;
use hlo_ir::{ComputationId, Literal, Shape};

impl Computations<'_> {
    /// Creates a reader for an attribute's value, which starts at byte `base` of the text. `inline` contains
    /// the bodies in it that are in place of computation names.
    pub fn reader<'r>(
        &'r self,
        value: &'r str,
        base: usize,
        inline: &'r [InlineComputation],
    ) -> AttrReader<'r> {
        AttrReader::with_context(value, base, AttrContext { resolver: self, inline })
    }
}

impl Resolver for Computations<'_> {
    fn computation(&self, name: &str) -> Option<ComputationId> {
        self.0.get(name).filter(|d| d.complete).map(|d| d.id)
    }

    fn shape(&self, text: &str, base: usize) -> Result<(Shape, usize), AttrError> {
        let mut c = Cursor::new(text, base);
        let shape = shape::read(&mut c)?;
        Ok((shape, c.offset() - base))
    }

    fn literal(&self, text: &str, base: usize) -> Result<(Literal, usize), AttrError> {
        let mut c = Cursor::new(text, base);
        let read = shape::read_before_value(&mut c).and_then(|shape| literal::read(&mut c, &shape))?;
        Ok((read.whole(c.since(base))?, c.offset() - base))
    }

    fn check_module(&self, text: &str) -> Result<(), String> {
        parse_module(text).map(|_| ()).map_err(|diags| {
            diags.into_iter().next().map_or_else(|| "it does not parse".into(), |d| d.message)
        })
    }
}
