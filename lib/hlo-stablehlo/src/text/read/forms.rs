//! Reading of forms that only one operation has: constants, reductions, loops, scans, modules.

use super::Reader;
use super::operation::{Argument, Draft};
use crate::text::format::COMMUTATIVE;
use crate::text::lex::{self, Cursor, Result, error_since};
use crate::tree::{Attribute, Block, Location, Operation, Region, TensorType, Type, TypeKind};
use hlo_ir::Span;

impl<'a> Reader<'a> {
    /// Reads `{…} dense<1.0> : tensor<f32>`, or `() <{value = …}> : () -> tensor<f32>`.
    pub fn constant(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        if c.eat("(") {
            c.expect(")")?;
            if c.eat("<") {
                draft.attributes = self.dictionary(c)?;
                c.expect(">")?;
            }
            self.more_attributes(c, draft)?;
            c.expect(":")?;
            return self.function_signature(c, draft);
        }
        self.more_attributes(c, draft)?;
        let start = c.offset_of_next();
        let value = self.attribute(c)?;
        let Attribute::Elements(elements) = &value else {
            return Err(error_since(c, start, "a constant's value is `dense<…> : tensor<…>`"));
        };
        draft.results = vec![elements.ty.clone()];
        draft.attributes.set("value", value);
        Ok(())
    }

    /// Reads `{…} 1 : i32`. The type of the attribute is also that of the result.
    pub fn typed_constant(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        self.more_attributes(c, draft)?;
        let start = c.offset_of_next();
        let value = self.attribute(c)?;
        draft.results = vec![match &value {
            Attribute::Elements(elements) => elements.ty.clone(),
            Attribute::Integer(_, ty) => ty.clone(),
            Attribute::Float(number) => number.ty.clone(),
            Attribute::Bool(_) => Type::integer(1),
            _ => {
                return Err(error_since(
                    c,
                    start,
                    "a constant's value is a number or `dense<…> : tensor<…>`",
                ));
            }
        }];
        draft.attributes.set("value", value);
        Ok(())
    }

    /// Reads `(%0 init: %cst), (%1 init: %c) applies stablehlo.add across dimensions = [0] : (…) -> …`.
    /// Instead of the operation there may be a region, `reducer(%arg0: tensor<f32>, %arg2: tensor<f32>) (…) {
    /// … }`.
    pub fn reduce(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        let start = c.offset_of_next();
        let mut inits = Vec::new();
        c.separated(|c| {
            c.expect("(")?;
            self.operand(c, draft)?;
            if !lex::eat_word(c, "init") {
                return Err(c.expected("`init`"));
            }
            c.expect(":")?;
            self.operand(c, draft)?;
            inits.push((draft.operands.pop(), draft.operand_spans.pop()));
            c.expect(")")
        })?;
        draft.operands.extend(inits.iter().filter_map(|i| i.0));
        draft.operand_spans.extend(inits.iter().filter_map(|i| i.1));
        let applied = if lex::eat_word(c, "applies") {
            let at = c.offset_of_next();
            let name = lex::some_word(c, "an operation such as `stablehlo.add`")?;
            Some((self.name_of_applied(c, at, name)?, c.since(at)))
        } else {
            None
        };
        for word in ["across", "dimensions"] {
            if !lex::eat_word(c, word) {
                return Err(c.expected(&format!("`{word}`")));
            }
        }
        c.expect("=")?;
        let dimensions = self.integers(c)?;
        draft.attributes.set("dimensions", dimensions);
        self.more_attributes(c, draft)?;
        c.expect(":")?;
        self.function_signature(c, draft)?;
        if lex::peek_word(c) == "loc" {
            draft.location = Some(self.location(c)?);
        }
        if let Some((name, span)) = applied {
            return self.applied_region(c, start, draft, &name, span);
        }
        let arguments = self.reducer_arguments(c)?;
        let region = self.region(c, draft, &arguments)?;
        draft.regions.push(region);
        Ok(())
    }

    fn name_of_applied(&self, c: &Cursor<'a>, at: usize, name: &str) -> Result<String> {
        let name = match name.strip_prefix("mhlo.") {
            Some(rest) => format!("stablehlo.{rest}"),
            None => name.to_owned(),
        };
        if COMMUTATIVE.contains(&&*name) {
            return Ok(name);
        }
        Err(error_since(
            c,
            at,
            format!("`{name}` is none of the operations that are applied: {}", COMMUTATIVE.join(", ")),
        ))
    }

    /// Creates the region of a reduction that applies an operation to two numbers.
    fn applied_region(
        &mut self,
        c: &Cursor<'a>,
        start: usize,
        draft: &mut Draft<'_>,
        name: &str,
        span: Span,
    ) -> Result<()> {
        let first = draft.operands.first().map(|&value| self.tree.type_of(value).clone());
        let Some(element) = first.as_ref().and_then(element_type) else {
            return Err(error_since(c, start, "expected a tensor to reduce"));
        };
        let location = draft.location.clone().unwrap_or_default();
        let scalar = Type::tensor([], element);
        let arguments = [(); 2].map(|()| self.tree.add_value(scalar.clone()));
        let sum = self.tree.add_value(scalar);
        let inner = |name: &str, operands: &[_], results: &[_]| Operation {
            operands: operands.to_vec(),
            results: results.to_vec(),
            location: location.clone(),
            span,
            ..Operation::new(name)
        };
        let operations = vec![inner(name, &arguments, &[sum]), inner("stablehlo.return", &[sum], &[])];
        draft.regions.push(Region { blocks: vec![Block { arguments: arguments.to_vec(), operations }] });
        Ok(())
    }

    /// Reads `reducer(%arg0: tensor<f32>, %arg2: tensor<f32>) (%arg1: …, %arg3: …)`. The result lists the
    /// first ones of all pairs before the second ones.
    fn reducer_arguments(&mut self, c: &mut Cursor<'a>) -> Result<Vec<Argument<'a>>> {
        if !lex::eat_word(c, "reducer") {
            return Err(c.expected("`reducer`"));
        }
        let (mut elements, mut accumulators) = (Vec::new(), Vec::new());
        while c.eat("(") {
            elements.push(self.argument(c)?);
            c.expect(",")?;
            accumulators.push(self.argument(c)?);
            c.expect(")")?;
        }
        elements.append(&mut accumulators);
        Ok(elements)
    }

    /// Reads `(%iterArg = %0, %iterArg_1 = %1) : tensor<i32>, tensor<f32> cond { … } do { … }`.
    pub fn while_loop(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        let names = c.list("(", ")", |c| {
            let name = self.argument_name(c)?;
            c.expect("=")?;
            self.operand(c, draft)?;
            Ok(name)
        })?;
        if !names.is_empty() {
            c.expect(":")?;
            draft.results = c.separated(|c| self.ty(c))?;
        }
        let types = draft.results.clone();
        self.check_operands(c, draft, &types)?;
        if lex::eat_word(c, "attributes") {
            self.more_attributes(c, draft)?;
        }
        let arguments: Vec<Argument<'a>> = names
            .into_iter()
            .zip(types)
            .map(|((name, span), ty)| Argument { name, ty, location: Location::Unknown, span })
            .collect();
        for word in ["cond", "do"] {
            if !lex::eat_word(c, word) {
                return Err(c.expected(&format!("`{word}`")));
            }
            let region = self.region(c, draft, &arguments)?;
            draft.regions.push(region);
        }
        Ok(())
    }

    /// Reads `(%0) inits (%1) dimension=0 attributes {…} { … } : (…) -> …`.
    pub fn scan(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        let inputs = c.list("(", ")", |c| self.operand(c, draft))?.len();
        if !lex::eat_word(c, "inits") {
            return Err(c.expected("`inits`"));
        }
        let carries = c.list("(", ")", |c| self.operand(c, draft))?.len();
        if !lex::eat_word(c, "dimension") {
            return Err(c.expected("`dimension`"));
        }
        c.expect("=")?;
        draft.attributes.set("dimension", Attribute::i64(lex::integer(c)?));
        if lex::eat_word(c, "attributes") {
            self.more_attributes(c, draft)?;
        }
        let region = self.region(c, draft, &[])?;
        draft.regions.push(region);
        c.expect(":")?;
        let start = c.offset_of_next();
        self.function_signature(c, draft)?;
        let Some(outputs) = draft.results.len().checked_sub(carries) else {
            return Err(error_since(
                c,
                start,
                format!("there are fewer results than the {carries} that are carried on"),
            ));
        };
        let sizes =
            |a: usize, b: usize| Attribute::DenseArray(Type::integer(32), vec![a as i64, b as i64].into());
        draft.attributes.set("operandSegmentSizes", sizes(inputs, carries));
        draft.attributes.set("resultSegmentSizes", sizes(outputs, carries));
        Ok(())
    }

    /// Reads `@m attributes {…} { … }`.
    pub fn module(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        if c.peek() == b'@' {
            let name = lex::symbol(c)?;
            draft.attributes.set("sym_name", Attribute::string(&name));
        }
        if lex::eat_word(c, "attributes") {
            self.more_attributes(c, draft)?;
        }
        let mut region = self.region(c, draft, &[])?;
        if region.blocks.is_empty() {
            region.blocks.push(Block::default());
        }
        draft.regions.push(region);
        Ok(())
    }
}

/// Returns the element type of a tensor.
fn element_type(ty: &Type) -> Option<Type> {
    match &**ty {
        TypeKind::Tensor(TensorType { element, .. }) | TypeKind::UnrankedTensor(element) => {
            Some(element.clone())
        }
        _ => None,
    }
}
