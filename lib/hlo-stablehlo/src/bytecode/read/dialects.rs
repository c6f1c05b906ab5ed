//! The attributes and types of all dialects.

use super::pool::Decoder;
use super::{assembly, builtin, quant, structures, vhlo};
use crate::bytecode::encoding;
use crate::bytecode::fault::Result;
use crate::tree::{Attribute, Type, TypeKind};

/// Decodes an attribute of a dialect.
pub(super) fn attribute(decoder: &mut Decoder<'_, '_>, dialect: &str) -> Result<Attribute> {
    if !decoder.is_encoded {
        return assembly::attribute(decoder);
    }
    match dialect {
        "builtin" => builtin::attribute(decoder),
        "vhlo" => vhlo::attribute(decoder),
        "stablehlo" => structures::attribute(decoder, &encoding::STABLEHLO, dialect),
        "chlo" => structures::attribute(decoder, &encoding::CHLO, dialect),
        "sdy" => structures::attribute(decoder, &encoding::SDY, dialect),
        _ => {
            Err(decoder
                .fault(format!("an attribute of the dialect `{dialect}`, whose encoding is not known")))
        }
    }
}

/// Decodes a type of a dialect.
pub(super) fn ty(decoder: &mut Decoder<'_, '_>, dialect: &str) -> Result<Type> {
    if !decoder.is_encoded {
        return assembly::ty(decoder);
    }
    match dialect {
        "builtin" => builtin::ty(decoder),
        "vhlo" => vhlo::ty(decoder),
        "quant" => quant::ty(decoder),
        "stablehlo" => match decoder.varint()? {
            0 => Ok(TypeKind::Token.into()),
            1 => Ok(TypeKind::Future(decoder.types()?).into()),
            code => Err(decoder.unknown(dialect, "type", code)),
        },
        _ => Err(decoder.fault(format!("a type of the dialect `{dialect}`, whose encoding is not known"))),
    }
}
