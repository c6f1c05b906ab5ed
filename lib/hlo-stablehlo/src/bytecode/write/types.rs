//! Encoding of types, as those of VHLO or of MLIR's own dialect.

use super::encoder::{Encoder, Form};
use super::tables::{Token, TypeId, dialect_of};
use crate::bytecode::fault::{Fault, Result};
use crate::bytecode::types::{self, VHLO_FLOATS, VHLO_INTEGERS};
use crate::dialect::Version;
use crate::tree::{FloatType, Quantization, Signedness, TensorType, Type, TypeKind};

impl Encoder {
    /// Encodes a type.
    pub(super) fn ty(&mut self, ty: &Type, form: Form) -> Result<TypeId> {
        // Types are shared, so most of them are encoded more than once.
        let key = (std::ptr::from_ref::<TypeKind>(ty), form);
        if let Some((_, id)) = self.known_types.get(&key) {
            return Ok(*id);
        }
        let id = self.nested(|encoder| match form {
            Form::Vhlo => encoder.vhlo_type(ty),
            Form::Builtin => encoder.builtin_type(ty),
        })?;
        self.known_types.insert(key, (ty.clone(), id));
        Ok(id)
    }

    fn types(&mut self, types: &[Type], form: Form, out: &mut Vec<Token>) -> Result<()> {
        out.push(Token::Number(types.len() as u64));
        for ty in types {
            out.push(Token::Type(self.ty(ty, form)?));
        }
        Ok(())
    }

    fn vhlo_type(&mut self, ty: &Type) -> Result<TypeId> {
        let mut out = Vec::new();
        match &**ty {
            TypeKind::Float(float) => {
                let found = VHLO_FLOATS.iter().find(|f| f.1 == *float);
                let &(code, _, since) = found.ok_or_else(|| no_type(float.name()))?;
                self.need(since, float.name())?;
                out.push(Token::Number(code));
            }
            TypeKind::Integer(bits, signedness) => {
                let name = integer_name(*bits, *signedness);
                let found = VHLO_INTEGERS.iter().find(|i| (i.1, i.2) == (*bits, *signedness));
                let &(code, _, _, since) = found.ok_or_else(|| no_type(&name))?;
                self.need(since, &name)?;
                out.push(Token::Number(code));
            }
            TypeKind::Complex(part) => {
                out.extend([Token::Number(1), Token::Type(self.ty(part, Form::Vhlo)?)])
            }
            TypeKind::Function { inputs, results } => {
                out.push(Token::Number(8));
                self.types(inputs, Form::Vhlo, &mut out)?;
                self.types(results, Form::Vhlo, &mut out)?;
            }
            TypeKind::Index => out.push(Token::Number(9)),
            TypeKind::Tensor(tensor) => {
                self.tensor(tensor, [20, 21], Form::Vhlo, &mut out)?;
            }
            TypeKind::Token => out.push(Token::Number(22)),
            TypeKind::Tuple(parts) => {
                out.push(Token::Number(23));
                self.types(parts, Form::Vhlo, &mut out)?;
            }
            TypeKind::Quantized(quantization) => {
                if quantization.axis.is_some() {
                    self.need(types::QUANTIZED_PER_AXIS, "a quantized type with a scale for each slice")?;
                }
                self.quantized(quantization, [24, 30], Form::Vhlo, &mut out)?;
            }
            TypeKind::UnrankedTensor(element) => {
                out.extend([Token::Number(25), Token::Type(self.ty(element, Form::Vhlo)?)]);
            }
            TypeKind::Other(text) if **text == *"shape.witness" => out.push(Token::Number(26)),
            TypeKind::None => {
                self.need(types::NONE, "the type `none`")?;
                out.push(Token::Number(33));
            }
            TypeKind::MemRef(buffer) => {
                self.need(types::BUFFER, "a buffer")?;
                if buffer.encoding.is_some() {
                    return Err(Fault::new("a buffer of a memory space, which VHLO has not"));
                }
                self.tensor(buffer, [41, 41], Form::Vhlo, &mut out)?;
            }
            TypeKind::Future(parts) => {
                self.need(types::FUTURE, "a future")?;
                out.push(Token::Number(42));
                self.types(parts, Form::Vhlo, &mut out)?;
            }
            TypeKind::Other(text) => return Ok(self.other_type(text)),
        }
        Ok(self.tables.ty("vhlo", out))
    }

    fn builtin_type(&mut self, ty: &Type) -> Result<TypeId> {
        let mut out = Vec::new();
        match &**ty {
            TypeKind::Integer(bits, signedness) => {
                let sign = match signedness {
                    Signedness::Signless => 0,
                    Signedness::Signed => 1,
                    Signedness::Unsigned => 2,
                };
                out.extend([Token::Number(0), Token::Number(u64::from(*bits) << 2 | sign)]);
            }
            TypeKind::Index => out.push(Token::Number(1)),
            TypeKind::Function { inputs, results } => {
                out.push(Token::Number(2));
                self.types(inputs, Form::Builtin, &mut out)?;
                self.types(results, Form::Builtin, &mut out)?;
            }
            TypeKind::Float(float) => match builtin_float(*float) {
                Some(code) => out.push(Token::Number(code)),
                None => return Ok(self.tables.type_text("builtin", float.name())),
            },
            TypeKind::Complex(part) => {
                out.extend([Token::Number(9), Token::Type(self.ty(part, Form::Builtin)?)])
            }
            TypeKind::MemRef(buffer) => {
                self.tensor(buffer, [10, 11], Form::Builtin, &mut out)?;
                // The layout is the identity.
                let names: Vec<String> = (0..buffer.dims.len()).map(|d| format!("d{d}")).collect();
                let names = names.join(", ");
                let layout = format!("affine_map<({names}) -> ({names})>");
                out.push(Token::Attribute(self.tables.attribute_text("builtin", &layout)));
            }
            TypeKind::None => out.push(Token::Number(12)),
            TypeKind::Tensor(tensor) => self.tensor(tensor, [13, 14], Form::Builtin, &mut out)?,
            TypeKind::Tuple(parts) => {
                out.push(Token::Number(15));
                self.types(parts, Form::Builtin, &mut out)?;
            }
            TypeKind::UnrankedTensor(element) => {
                out.extend([Token::Number(18), Token::Type(self.ty(element, Form::Builtin)?)]);
            }
            TypeKind::Token => return Ok(self.tables.ty("stablehlo", vec![Token::Number(0)])),
            TypeKind::Future(parts) => {
                out.push(Token::Number(1));
                self.types(parts, Form::Builtin, &mut out)?;
                return Ok(self.tables.ty("stablehlo", out));
            }
            TypeKind::Quantized(quantization) => {
                self.quantized(quantization, [4, 5], Form::Builtin, &mut out)?;
                return Ok(self.tables.ty("quant", out));
            }
            TypeKind::Other(text) => return Ok(self.other_type(text)),
        }
        Ok(self.tables.ty("builtin", out))
    }

    /// Writes an array type. The second code is for types with an encoding attribute.
    fn tensor(
        &mut self,
        tensor: &TensorType,
        codes: [u64; 2],
        form: Form,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        match &tensor.encoding {
            None => out.push(Token::Number(codes[0])),
            Some(encoding) => {
                out.extend([Token::Number(codes[1]), Token::Attribute(self.attribute(encoding, form)?)]);
            }
        }
        out.push(Token::Number(tensor.dims.len() as u64));
        out.extend(tensor.dims.iter().map(|&dim| Token::Signed(dim)));
        out.push(Token::Type(self.ty(&tensor.element, form)?));
        Ok(())
    }

    /// Writes a quantized type. The second code is for types with a scale for each slice along a dimension.
    fn quantized(
        &mut self,
        quantization: &Quantization,
        codes: [u64; 2],
        form: Form,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        let Quantization { storage, expressed, storage_min, storage_max, axis, scales, zero_points } =
            quantization;
        let is_signed = !matches!(&**storage, TypeKind::Integer(_, Signedness::Unsigned));
        let double = |scale: f64| Token::Signed(scale.to_bits() as i64);
        out.push(Token::Number(codes[usize::from(axis.is_some())]));
        out.push(Token::Number(is_signed.into()));
        // In both dialects, a flag before the storage type tells whether it is signed.
        out.push(Token::Type(self.ty(storage, form)?));
        out.push(Token::Type(self.ty(expressed, form)?));
        let bounds = [Token::Signed(*storage_min), Token::Signed(*storage_max)];
        let Some(axis) = axis else {
            let (&[scale], &[zero_point]) = (&scales[..], &zero_points[..]) else {
                return Err(Fault::new("a quantized type of one scale has several"));
            };
            out.extend([double(scale), Token::Signed(zero_point)]);
            out.extend(bounds);
            return Ok(());
        };
        out.push(Token::Number(u64::try_from(*axis).map_err(|_| Fault::new("a dimension out of range"))?));
        out.extend(bounds);
        out.push(Token::Number(scales.len() as u64));
        out.extend(scales.iter().map(|&scale| double(scale)));
        out.push(Token::Number(zero_points.len() as u64));
        out.extend(zero_points.iter().map(|&point| Token::Signed(point)));
        Ok(())
    }

    /// Encodes a type that is kept as text.
    fn other_type(&mut self, text: &str) -> TypeId {
        self.tables.type_text(dialect_of(text), &format!("!{text}"))
    }

    /// Fails if the version to write is older than the one that introduced `what`.
    pub(super) fn need(&self, since: Version, what: &str) -> Result<()> {
        if self.version < since {
            return Err(Fault::new(format!(
                "{what} came with version {since}, but {} is written",
                self.version
            )));
        }
        Ok(())
    }
}

fn builtin_float(float: FloatType) -> Option<u64> {
    Some(match float {
        FloatType::BF16 => 3,
        FloatType::F16 => 4,
        FloatType::F32 => 5,
        FloatType::F64 => 6,
        FloatType::F80 => 7,
        FloatType::F128 => 8,
        _ => return None,
    })
}

fn integer_name(bits: u32, signedness: Signedness) -> String {
    let sign = match signedness {
        Signedness::Signless => "",
        Signedness::Signed => "s",
        Signedness::Unsigned => "u",
    };
    format!("{sign}i{bits}")
}

fn no_type(name: &str) -> Fault {
    Fault::new(format!("the type `{name}`, which VHLO has not"))
}
