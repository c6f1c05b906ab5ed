//! Maps elementwise opcodes to methods and operators of the builder.

use hlo_builder::Value;
use hlo_ir::Opcode;

pub(super) fn unary(opcode: Opcode, x: Value<'_>) -> Option<Value<'_>> {
    Some(match opcode {
        Opcode::Abs => x.abs(),
        Opcode::Acos => x.acos(),
        Opcode::Acosh => x.acosh(),
        Opcode::Asin => x.asin(),
        Opcode::Asinh => x.asinh(),
        Opcode::Atanh => x.atanh(),
        Opcode::Cbrt => x.cbrt(),
        Opcode::Ceil => x.ceil(),
        Opcode::Cosine => x.cos(),
        Opcode::Cosh => x.cosh(),
        Opcode::CountLeadingZeros => x.clz(),
        Opcode::Erf => x.erf(),
        Opcode::Exponential => x.exp(),
        Opcode::ExponentialMinusOne => x.expm1(),
        Opcode::Floor => x.floor(),
        Opcode::Imag => x.imag(),
        Opcode::IsFinite => x.is_finite(),
        Opcode::Log => x.log(),
        Opcode::LogPlusOne => x.log1p(),
        Opcode::Logistic => x.logistic(),
        Opcode::Negate => -x,
        Opcode::Not => !x,
        Opcode::PopulationCount => x.population_count(),
        Opcode::Real => x.real(),
        Opcode::RoundNearestAfz => x.round(),
        Opcode::RoundNearestEven => x.round_nearest_even(),
        Opcode::Rsqrt => x.rsqrt(),
        Opcode::Sign => x.sign(),
        Opcode::Sine => x.sin(),
        Opcode::Sinh => x.sinh(),
        Opcode::Sqrt => x.sqrt(),
        Opcode::Tan => x.tan(),
        Opcode::Tanh => x.tanh(),
        _ => return None,
    })
}

pub(super) fn binary<'b>(opcode: Opcode, x: Value<'b>, y: Value<'b>) -> Option<Value<'b>> {
    Some(match opcode {
        Opcode::Add => x + y,
        Opcode::And => x & y,
        Opcode::Atan2 => x.atan2(y),
        Opcode::Complex => x.complex(y),
        Opcode::Divide => x / y,
        Opcode::Maximum => x.max(y),
        Opcode::Minimum => x.min(y),
        Opcode::Mulhi => x.mulhi(y),
        Opcode::Multiply => x * y,
        Opcode::Or => x | y,
        Opcode::Power => x.pow(y),
        Opcode::Remainder => x % y,
        Opcode::ShiftLeft => x << y,
        Opcode::ShiftRightArithmetic => x.shift_right_arithmetic(y),
        Opcode::ShiftRightLogical => x.shift_right_logical(y),
        Opcode::Subtract => x - y,
        Opcode::Xor => x ^ y,
        _ => return None,
    })
}
