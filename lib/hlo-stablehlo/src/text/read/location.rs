//! Reading of locations: `loc("file.py":1:2)`.

use super::Reader;
use crate::text::lex::{self, Cursor, Result, error_since};
use crate::tree::{FileRange, Location};
use std::sync::Arc;

impl<'a> Reader<'a> {
    /// Reads `loc(…)`.
    pub fn location(&mut self, c: &mut Cursor<'a>) -> Result<Location> {
        if !lex::eat_word(c, "loc") {
            return Err(c.expected("a location `loc(…)`"));
        }
        c.expect("(")?;
        let location = self.location_inside(c)?;
        c.expect(")")?;
        Ok(location)
    }

    /// Reads the text inside the parentheses.
    pub fn location_inside(&mut self, c: &mut Cursor<'a>) -> Result<Location> {
        self.nested(c, |r, c| r.location_here(c))
    }

    fn location_here(&mut self, c: &mut Cursor<'a>) -> Result<Location> {
        let start = c.offset_of_next();
        if c.eat("#") {
            let name = lex::suffix(c, "the name of a location")?;
            return self.location_alias(c, start, name);
        }
        if c.peek() == b'"' {
            return self.file_or_name(c);
        }
        match lex::word(c) {
            "unknown" => Ok(Location::Unknown),
            "loc" => {
                c.rewind(start);
                self.location(c)
            }
            "callsite" => {
                c.expect("(")?;
                let callee = Arc::new(self.location_inside(c)?);
                if !lex::eat_word(c, "at") {
                    return Err(c.expected("`at`"));
                }
                let caller = Arc::new(self.location_inside(c)?);
                c.expect(")")?;
                Ok(Location::CallSite { callee, caller })
            }
            "fused" => {
                let metadata = if c.eat("<") {
                    let value = self.attribute(c)?;
                    c.expect(">")?;
                    Some(Arc::new(value))
                } else {
                    None
                };
                let parts = c.list("[", "]", |c| self.location_inside(c))?;
                Ok(Location::Fused(parts.into(), metadata))
            }
            "" => Err(c.expected("a location")),
            word => Err(error_since(c, start, format!("`{word}` is no location"))),
        }
    }

    /// Reads `"file.py":1:2 to 3:4` or `"name"(…)`.
    fn file_or_name(&mut self, c: &mut Cursor<'a>) -> Result<Location> {
        let text = lex::text(c)?;
        let name = self.name(&text);
        if c.eat("(") {
            let inner = Arc::new(self.location_inside(c)?);
            c.expect(")")?;
            return Ok(Location::Named(name, inner));
        }
        if !c.eat(":") {
            return Ok(Location::Named(name, Arc::new(Location::Unknown)));
        }
        let line = lex::integer(c)?;
        c.expect(":")?;
        let mut range = FileRange::at(name, line, lex::integer(c)?);
        if lex::eat_word(c, "to") {
            if c.peek() != b':' {
                range.end_line = lex::integer(c)?;
            }
            c.expect(":")?;
            range.end_column = lex::integer(c)?;
        }
        Ok(Location::File(Arc::new(range)))
    }
}
