//! Tokens, host transfers, asynchronous chains and custom calls. A step adds the whole chain.

use super::builder::Generator;
use super::types::{Array, Type, list};
use hlo_ir::{ElementType as E, Opcode};

impl Generator {
    /// Adds an instruction of the family, including the chain that it belongs to.
    pub(super) fn effect(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::AfterAll => {
                let tokens: Vec<usize> =
                    (0..self.numbers.below(3)).map(|_| self.value(&Type::Token)).collect();
                self.add(Type::Token, opcode, &tokens, &[])
            }
            Opcode::AddDependency => {
                let x = self.array_of(|_| true, 0, 3);
                let token = self.value(&Type::Token);
                self.add(self.ty(x), opcode, &[x, token], &[])
            }
            Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone => self.asynchronous(),
            Opcode::CopyStart | Opcode::CopyDone => self.copy_chain(),
            Opcode::CustomCall => self.custom_call(),
            Opcode::Domain => {
                let x = self.array_of(|_| true, 0, 3);
                let domain = "{kind=\"sharding\", entry={maximal device=0}, exit={replicated}}".into();
                self.add(self.ty(x), opcode, &[x], &[("domain", domain)])
            }
            Opcode::Infeed => {
                let token = self.value(&Type::Token);
                let element = self.element(|_| true);
                let mut data = Type::Array(Array::new(element, &self.dims(0, 3)));
                if self.numbers.one_in(2) {
                    data = Type::Tuple(vec![data, Type::scalar(E::S32)]);
                }
                let value = self.add(Type::Tuple(vec![data, Type::Token]), opcode, &[token], &[]);
                if self.numbers.one_in(2) {
                    self.attribute(value, "infeed_config", "\"config \\\"a\\\"\"");
                }
                value
            }
            Opcode::Outfeed => {
                let x = self.array_of(|_| true, 0, 3);
                let token = self.value(&Type::Token);
                let shape = self.ty(x).write(None);
                let value = self.add(Type::Token, opcode, &[x, token], &[("outfeed_shape", shape)]);
                if self.numbers.one_in(2) {
                    self.attribute(value, "outfeed_config", "\"o\"");
                }
                value
            }
            Opcode::Send | Opcode::SendDone => self.send(),
            Opcode::Recv | Opcode::RecvDone => self.receive(),
            _ => self.add(Array::new(E::U32, &[]), opcode, &[], &[]),
        }
    }

    /// Adds the attributes that both ends of a transfer share.
    fn transfer(&mut self, values: [usize; 2]) {
        // Collectives use the channels up to 1000.
        let channel = 1001 + self.numbers.below(1_000_000) as i64;
        let host = self.numbers.one_in(2);
        for v in values {
            self.attribute(v, "channel_id", channel.to_string());
            if host {
                self.attribute(v, "is_host_transfer", "true");
            }
        }
    }

    fn send(&mut self) -> usize {
        let x = self.array_of(|_| true, 0, 3);
        let token = self.value(&Type::Token);
        let ty = Type::Tuple(vec![self.ty(x), Type::scalar(E::U32), Type::Token]);
        let send = self.add(ty, Opcode::Send, &[x, token], &[]);
        let done = self.add(Type::Token, Opcode::SendDone, &[send], &[]);
        self.transfer([send, done]);
        done
    }

    fn receive(&mut self) -> usize {
        let token = self.value(&Type::Token);
        let data = Type::Array(Array::new(self.element(|_| true), &self.dims(0, 3)));
        let ty = Type::Tuple(vec![data.clone(), Type::scalar(E::U32), Type::Token]);
        let receive = self.add(ty, Opcode::Recv, &[token], &[]);
        let done = self.add(Type::Tuple(vec![data, Type::Token]), Opcode::RecvDone, &[receive], &[]);
        self.transfer([receive, done]);
        done
    }

    fn copy_chain(&mut self) -> usize {
        let x = self.array_of(|_| true, 0, 3);
        let ty = self.ty(x);
        let triple = Type::Tuple(vec![ty.clone(), ty.clone(), Type::scalar(E::U32)]);
        let start = self.add(triple, Opcode::CopyStart, &[x], &[]);
        if self.numbers.one_in(3) {
            self.attribute(start, "cross_program_prefetch_index", "0");
        }
        self.add(ty, Opcode::CopyDone, &[start], &[])
    }

    /// Adds `async-start`, `async-update` and `async-done`, in full or in the short form of a wrapped
    /// instruction.
    fn asynchronous(&mut self) -> usize {
        let exact = self.executable;
        let x = self.array_of(|t| !(t.is_pred() || exact && t.is_complex()), 0, 3);
        let ty = self.ty(x);
        // The short form cannot specify layouts inside the wrapped computation, so the whole chain uses the
        // same layout.
        let plain = |g: &mut Self, opcode: Opcode, ty: &Type, operands: &[usize]| {
            let value = g.add(ty.clone(), opcode, operands, &[]);
            g.edit(value, |line| line.layout = 0);
            value
        };
        let y = self.value(&ty);
        let operands = [x, y].map(|v| plain(self, Opcode::Copy, &ty, &[v]));
        let arguments = Type::Tuple(vec![ty.clone(), ty.clone()]);
        let state = Type::Tuple(vec![arguments, ty.clone(), Type::scalar(E::U32)]);
        let thread = self.numbers.one_in(2).then_some("parallel");
        let short = self.numbers.one_in(2);
        let mut chain = vec![plain(self, Opcode::AsyncStart, &state, &operands)];
        if short {
            if let Some(thread) = thread {
                self.attribute(chain[0], "async_execution_thread", format!("\"{thread}\""));
            }
        } else {
            self.begin("async_wrapped");
            let [a, b] = [0; 2].map(|_| self.parameter(ty.clone()));
            for parameter in [a, b] {
                self.edit(parameter, |line| line.layout = 0);
            }
            let root = plain(self, Opcode::Multiply, &ty, &[a, b]);
            let callee = self.end(root);
            if let Some(thread) = thread {
                self.set_thread(thread);
                self.attribute(chain[0], "async_execution_thread", format!("\"{thread}\""));
            }
            self.attribute(chain[0], "calls", callee);
            if self.numbers.one_in(3) {
                self.attribute(chain[0], "output_to_operand_aliasing", "{{1}: (0, {})}");
            }
        }
        for _ in 0..1 + self.numbers.below(2) {
            let last = chain[chain.len() - 1];
            chain.push(plain(self, Opcode::AsyncUpdate, &state, &[last]));
        }
        let last = chain[chain.len() - 1];
        chain.push(plain(self, Opcode::AsyncDone, &ty, &[last]));
        if short {
            for &value in &chain {
                self.edit(value, |line| {
                    let suffix = line.opcode.name().trim_start_matches("async");
                    line.spelling = Some(format!("multiply{suffix}"));
                });
            }
        }
        chain[chain.len() - 1]
    }

    fn custom_call(&mut self) -> usize {
        let all = self.lines().len();
        let values: Vec<usize> =
            (0..self.numbers.below(4).min(all)).map(|_| self.numbers.below(all)).collect();
        let types: Vec<Type> = values.iter().map(|&v| self.ty(v)).collect();
        let result = match types.first() {
            Some(first) if self.numbers.one_in(3) => first.clone(),
            _ => self.some_type(1),
        };
        let target = self.numbers.pick(&["\"foo\"", "\"bar$baz\"", "\"with \\\"quotes\\\" and \\\\\""]);
        let value = self.add(result.clone(), Opcode::CustomCall, &values, &[]);
        let optional = |g: &mut Self, name: &str, text: String| {
            if g.numbers.one_in(5) {
                g.attribute(value, name, text);
            }
        };
        optional(self, "window", "{size=2x1 stride=1x2 pad=0_1x0_0}".into());
        optional(self, "dim_labels", "b01f_01io->b01f".into());
        optional(self, "feature_group_count", "2".into());
        optional(self, "batch_group_count", "3".into());
        self.attribute(value, "custom_call_target", target);
        let arrays = types.iter().all(|t| t.as_array().is_some_and(|a| a.is_static()));
        if arrays && self.numbers.one_in(3) {
            let with_layout = |t: &Type| match t.as_array() {
                Some(a) if a.rank() > 0 => {
                    let order: Vec<i64> = (0..a.rank() as i64).rev().collect();
                    format!("{}{{{}}}", t.write(None), list(&order))
                }
                _ => t.write(None),
            };
            let shapes: Vec<String> = types.iter().map(with_layout).collect();
            self.attribute(value, "operand_layout_constraints", format!("{{{}}}", shapes.join(", ")));
        }
        self.promise(value, "custom_call_has_side_effect");
        if self.numbers.one_in(5) {
            let t = self.element(|_| true);
            let callee = self.scalar_function(&[t, t], &Type::scalar(t));
            if self.numbers.one_in(2) {
                self.attribute(value, "to_apply", callee)
            } else {
                self.attribute(value, "called_computations", format!("{{{callee}}}"))
            }
        }
        if let Some(operand) = types.iter().position(|t| *t == result && t.as_array().is_some())
            && self.numbers.one_in(2)
        {
            self.attribute(value, "output_to_operand_aliasing", format!("{{{{}}: ({operand}, {{}})}}"));
        }
        for (name, text) in [
            ("padding_type", "PADDING_SAME"),
            ("literal", "s32[2]{0} {1, -2}"),
            ("operand_precision", "{highest,default}"),
            ("schedule", "SCHEDULE_EARLIEST"),
            ("api_version", "API_VERSION_TYPED_FFI"),
        ] {
            optional(self, name, text.into());
        }
        value
    }
}
