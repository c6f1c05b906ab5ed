//! Calls, loops, branches and fusions.

use super::builder::Generator;
use super::types::Type;
use hlo_ir::{ElementType as E, Opcode};

impl Generator {
    /// Returns a type for arguments and results of computations: an array, or a tuple of arrays.
    pub(super) fn state(&mut self) -> Type {
        match self.some_type(1) {
            Type::Token | Type::Opaque => Type::scalar(E::S32),
            other => other,
        }
    }

    /// Returns up to three values and their types.
    fn arguments(&mut self) -> (Vec<usize>, Vec<Type>) {
        let all = self.lines().len();
        let values: Vec<usize> =
            (0..self.numbers.below(4).min(all)).map(|_| self.numbers.below(all)).collect();
        let types = values.iter().map(|&v| self.ty(v)).collect();
        (values, types)
    }

    /// Adds an instruction of the family.
    pub(super) fn control(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::Call => {
                let (values, types) = self.arguments();
                let result = self.state();
                let callee = self.function("callee", &types, &result);
                let value = self.add(result, opcode, &values, &[("to_apply", callee)]);
                if self.numbers.one_in(4) {
                    self.attribute(value, "is_composite", "true");
                    let attributes = "{composite.attributes={n = 1 : i64},composite.name=\"foo.bar\",composite.version=\"1\"}";
                    self.attribute(value, "frontend_attributes", attributes);
                }
                value
            }
            Opcode::Fusion => self.fusion(),
            Opcode::While if self.executable => self.counted_loop(),
            Opcode::While => {
                let state = self.state();
                let initial = self.value(&state);
                let condition =
                    self.function("condition", std::slice::from_ref(&state), &Type::scalar(E::Pred));
                let body = self.function("body", std::slice::from_ref(&state), &state);
                self.add(state, opcode, &[initial], &[("condition", condition), ("body", body)])
            }
            Opcode::Conditional => self.conditional(),
            // opt-barrier
            _ => {
                let ty = self.state();
                let x = self.value(&ty);
                self.add(ty, opcode, &[x], &[])
            }
        }
    }

    fn fusion(&mut self) -> usize {
        let (mut values, _) = self.arguments();
        values.retain(|&v| self.ty(v).as_array().is_some());
        let types: Vec<Type> = values.iter().map(|&v| self.ty(v)).collect();
        let result = match types.first() {
            Some(first) if self.numbers.one_in(2) => first.clone(),
            _ => Type::Array(self.array_fresh()),
        };
        let fused = self.function("fused_computation", &types, &result);
        let kind = self.numbers.pick(&["kLoop", "kInput", "kOutput", "kCustom"]).to_string();
        let alias = types.iter().position(|t| *t == result);
        let value = self.add(result, Opcode::Fusion, &values, &[("kind", kind)]);
        if let (Some(operand), true) = (alias, self.numbers.one_in(2)) {
            self.attribute(value, "output_to_operand_aliasing", format!("{{{{}}: ({operand}, {{}})}}"));
        }
        self.attribute(value, "calls", fused);
        value
    }

    /// Returns a static array type.
    fn array_fresh(&mut self) -> super::types::Array {
        let element = self.element(|_| true);
        let dims = self.dims(0, 3);
        super::types::Array::new(element, &dims)
    }

    fn conditional(&mut self) -> usize {
        let result = self.state();
        let two = self.numbers.one_in(2);
        let n = if two { 2 } else { 1 + self.numbers.below(4) };
        let mut operands = vec![self.value(&Type::scalar(if two { E::Pred } else { E::S32 }))];
        let mut branches = Vec::new();
        for _ in 0..n {
            let argument = self.state();
            operands.push(self.value(&argument));
            branches.push(self.function("branch", &[argument], &result));
        }
        if two {
            let attributes =
                [("true_computation", branches[0].clone()), ("false_computation", branches[1].clone())];
            return self.add(result, Opcode::Conditional, &operands, &attributes);
        }
        let branches = format!("{{{}}}", branches.join(", "));
        self.add(result, Opcode::Conditional, &operands, &[("branch_computations", branches)])
    }
}
