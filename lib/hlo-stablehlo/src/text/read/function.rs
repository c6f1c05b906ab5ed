//! Reading of functions.

use super::Reader;
use super::operation::{Argument, Draft};
use crate::text::lex::{self, Cursor, Result};
use crate::tree::{Attribute, Attributes, Location, Type, TypeKind};
use std::sync::Arc;

impl<'a> Reader<'a> {
    /// Reads `private @main(%arg0: tensor<f32> {…}) -> (tensor<f32> {…}) attributes {…} { … }`.
    pub fn function(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        let visibility = lex::peek_word(c);
        if matches!(visibility, "public" | "private" | "nested") {
            c.advance(visibility.len());
            draft.attributes.set("sym_visibility", Attribute::string(visibility));
        }
        let name = lex::symbol(c)?;
        draft.attributes.set("sym_name", Attribute::string(&name));

        let mut arguments = Vec::new();
        let mut inputs = Vec::new();
        let mut said_of_inputs = Vec::new();
        c.list("(", ")", |c| {
            // A declaration contains only types.
            let name = if c.peek() == b'%' {
                let name = self.argument_name(c)?;
                c.expect(":")?;
                Some(name)
            } else {
                None
            };
            let ty = self.ty(c)?;
            said_of_inputs.push(self.attributes_of_value(c)?);
            let location = if lex::peek_word(c) == "loc" { self.location(c)? } else { Location::Unknown };
            if let Some((name, span)) = name {
                arguments.push(Argument { name, ty: ty.clone(), location, span });
            }
            inputs.push(ty);
            Ok(())
        })?;
        let (results, said_of_results) =
            if c.eat("->") { self.results_of_function(c)? } else { Default::default() };
        set_if_any(draft, "arg_attrs", said_of_inputs);
        set_if_any(draft, "res_attrs", said_of_results);
        let ty: Type = TypeKind::Function { inputs, results }.into();
        draft.attributes.set("function_type", Attribute::Type(ty));

        if lex::eat_word(c, "attributes") {
            self.more_attributes(c, draft)?;
        }
        let region = if c.peek() == b'{' { self.region(c, draft, &arguments)? } else { Default::default() };
        draft.regions.push(region);
        Ok(())
    }

    /// Reads `(tensor<f32> {…}, tensor<f32>)`, or one type.
    fn results_of_function(&mut self, c: &mut Cursor<'a>) -> Result<(Vec<Type>, Vec<Attributes>)> {
        if c.peek() != b'(' {
            return Ok((vec![self.ty(c)?], Vec::new()));
        }
        let results = c.list("(", ")", |c| {
            let ty = self.ty(c)?;
            Ok((ty, self.attributes_of_value(c)?))
        })?;
        Ok(results.into_iter().unzip())
    }

    fn attributes_of_value(&mut self, c: &mut Cursor<'a>) -> Result<Attributes> {
        if c.peek() == b'{' { self.dictionary(c) } else { Ok(Attributes::default()) }
    }
}

/// Sets the list of attributes of arguments or results, if one of them has any.
fn set_if_any(draft: &mut Draft<'_>, name: &str, said: Vec<Attributes>) {
    if said.iter().any(|attributes| !attributes.is_empty()) {
        let list = said.into_iter().map(|a| Attribute::Dictionary(Arc::new(a)));
        draft.attributes.set(name, Attribute::Array(list.collect()));
    }
}
