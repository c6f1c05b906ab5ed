//! Reading of the types of operands and results.

use super::Reader;
use super::operation::Draft;
use crate::text::format::Types;
use crate::text::lex::{self, Cursor, Result, error_at, error_since};
use crate::tree::{TensorType, Type, TypeKind};

impl<'a> Reader<'a> {
    /// Reads the types of a form. Sets the types of the results, and compares those of the operands with
    /// their actual types.
    pub fn signature(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>, types: Types) -> Result<()> {
        match types {
            Types::Function => self.function_signature(c, draft),
            Types::Results => {
                draft.results = c.separated(|c| self.ty(c))?;
                Ok(())
            }
            Types::Operands => {
                // In one form, a dictionary may follow the colon.
                if draft.operands.is_empty() {
                    return Ok(());
                }
                c.expect(":")?;
                self.more_attributes(c, draft)?;
                let types = c.separated(|c| self.ty(c))?;
                self.check_operands(c, draft, &types)
            }
            Types::OperandsSame => {
                let ty = self.ty(c)?;
                self.check_operands(c, draft, &vec![ty; draft.operands.len()])
            }
            Types::Pairwise => self.pairwise(c, draft),
            Types::To => {
                let inputs = c.separated(|c| self.ty(c))?;
                if !lex::eat_word(c, "to") {
                    return Err(c.expected("`to`"));
                }
                draft.results = c.separated(|c| self.ty(c))?;
                self.check_operands(c, draft, &inputs)
            }
            Types::Arrow => {
                let inputs = c.separated(|c| self.ty(c))?;
                c.expect("->")?;
                draft.results = self.result_types(c)?;
                self.check_operands(c, draft, &inputs)
            }
            Types::Same | Types::Complex | Types::Tuple => self.one_type(c, draft, types),
            Types::Select => self.select_types(c, draft),
        }
    }

    /// Reads `(A, B) -> C`.
    pub fn function_signature(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        let start = c.offset_of_next();
        let inputs = c.list("(", ")", |c| self.ty(c))?;
        self.check_operands_at(c, start, draft, &inputs)?;
        c.expect("->")?;
        draft.results = self.result_types(c)?;
        Ok(())
    }

    /// Reads `%0, %1 : A, B`, or `()`.
    fn pairwise(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        if c.eat("(") {
            return c.expect(")");
        }
        self.operands(c, draft)?;
        c.expect(":")?;
        let types = c.separated(|c| self.ty(c))?;
        self.check_operands(c, draft, &types)?;
        draft.results = types;
        Ok(())
    }

    /// Reads one type that determines all others, or a function type.
    fn one_type(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>, types: Types) -> Result<()> {
        if c.peek() == b'(' {
            return self.function_signature(c, draft);
        }
        let start = c.offset_of_next();
        let ty = self.ty(c)?;
        let inputs = match (types, &*ty) {
            (Types::Same, _) => vec![ty.clone(); draft.operands.len()],
            (Types::Tuple, TypeKind::Tuple(parts)) => parts.clone(),
            (Types::Tuple, _) => return Err(error_since(c, start, "expected a tuple's type")),
            _ => match real_type(&ty) {
                Some(real) => vec![real; draft.operands.len()],
                None => return Err(error_since(c, start, "expected a tensor of complex numbers")),
            },
        };
        self.check_operands(c, draft, &inputs)?;
        draft.results = vec![ty];
        Ok(())
    }

    /// Reads `tensor<i1>, tensor<4xf32>`.
    fn select_types(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        if c.peek() == b'(' {
            return self.function_signature(c, draft);
        }
        let predicate = self.ty(c)?;
        c.expect(",")?;
        let result = self.ty(c)?;
        self.check_operands(c, draft, &[predicate, result.clone(), result.clone()])?;
        draft.results = vec![result];
        Ok(())
    }

    /// Compares the written types of the operands with their actual types.
    pub fn check_operands(&self, c: &Cursor<'a>, draft: &Draft<'_>, types: &[Type]) -> Result<()> {
        self.check_operands_at(c, c.offset(), draft, types)
    }

    fn check_operands_at(
        &self,
        c: &Cursor<'a>,
        start: usize,
        draft: &Draft<'_>,
        types: &[Type],
    ) -> Result<()> {
        let operands = &draft.operands;
        if operands.len() != types.len() {
            let message = format!("there are {} operands, but types of {}", operands.len(), types.len());
            return Err(error_since(c, start, message));
        }
        let wrong_one = operands.iter().zip(types).position(|(&value, ty)| self.tree.type_of(value) != ty);
        match wrong_one {
            None => Ok(()),
            Some(i) => {
                let span = draft.operand_spans[i];
                let name = &self.text[span.range()];
                let is = crate::text::print::type_text(self.tree.type_of(operands[i]));
                let said = crate::text::print::type_text(&types[i]);
                Err(error_at(span, format!("`{name}` is of type {is}, not {said} as this operation says")))
            }
        }
    }
}

/// Returns the type of the real and imaginary parts of a complex tensor, or `None` for other types.
fn real_type(ty: &Type) -> Option<Type> {
    let tensor = ty.as_tensor()?;
    let TypeKind::Complex(part) = &*tensor.element else { return None };
    let real =
        TensorType { dims: tensor.dims.clone(), element: part.clone(), encoding: tensor.encoding.clone() };
    Some(TypeKind::Tensor(real).into())
}
