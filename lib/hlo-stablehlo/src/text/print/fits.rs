//! Checks whether the pretty form can express an operation. Trees may contain invalid operations that it
//! cannot express. These are printed in the generic form.

use crate::text::format::{AttributeForm, Form, Piece, Types};
use crate::tree::{Attribute, Block, Operation, Region, Tree, Type, TypeKind, ValueId};

/// Checks whether a form can express everything in an operation.
pub fn fits(tree: &Tree, op: &Operation, form: Form) -> bool {
    match form {
        Form::Pieces(pieces) => fits_pieces(tree, op, pieces),
        // This form can contain the generic form.
        Form::Constant => op.operands.is_empty() && op.results.len() == 1 && op.regions.is_empty(),
        Form::TypedConstant => fits_typed_constant(tree, op),
        Form::Reduce => fits_reduce(tree, op),
        Form::While => fits_while(tree, op),
        Form::Scan => fits_scan(op),
        Form::Function => fits_function(tree, op),
        Form::Module => {
            let has_name = op.attribute("sym_name").is_none_or(is_text);
            has_no_values(op) && has_name && entry(op, 0).is_some_and(|block| block.arguments.is_empty())
        }
    }
}

fn fits_pieces(tree: &Tree, op: &Operation, pieces: &[Piece]) -> bool {
    let (mut operands, mut takes_all, mut regions) = (0, false, 0..=0);
    for &piece in pieces {
        let fits = match piece {
            Piece::Operand => {
                operands += 1;
                true
            }
            Piece::Operands | Piece::OperandsAndCommas | Piece::OperandsAndTypes => {
                takes_all = true;
                !matches!(piece, Piece::OperandsAndTypes) || op.results.is_empty()
            }
            Piece::Attribute(name, how) => op.attribute(name).is_some_and(|value| fits_as(value, how)),
            Piece::Optional(name, _, how) => op.attribute(name).is_none_or(|value| fits_as(value, how)),
            Piece::SliceRanges => {
                let len = |name| op.attribute(name).and_then(Attribute::ints).map(|list| list.len());
                len("start_indices").is_some_and(|n| [len("limit_indices"), len("strides")] == [Some(n); 2])
            }
            Piece::DotDimensions => {
                op.attribute("dot_dimension_numbers").is_some_and(|a| a.fields("stablehlo.dot").is_some())
            }
            Piece::ExponentMantissa(e, m) => {
                let is_size = |name| op.attribute(name).and_then(Attribute::as_int).is_some_and(|n| n >= 0);
                is_size(e) && is_size(m)
            }
            Piece::Types(types) => {
                takes_all |= types == Types::Pairwise;
                fits_types(tree, op, types)
            }
            Piece::Regions => {
                regions = 0..=usize::MAX;
                true
            }
            Piece::RegionWithArguments => {
                regions = 1..=1;
                entry(op, 0).is_some()
            }
            Piece::Window => super::dimensions::WINDOW
                .iter()
                .all(|(name, _)| op.attribute(name).is_none_or(|value| value.ints().is_some())),
            Piece::Text(_) | Piece::Dictionary => true,
        };
        if !fits {
            return false;
        }
    }
    let no_types = !pieces.iter().any(|p| matches!(p, Piece::Types(_) | Piece::OperandsAndTypes));
    (op.operands.len() == operands || takes_all && op.operands.len() > operands || takes_all && operands == 0)
        && regions.contains(&op.regions.len())
        && (!no_types || op.results.is_empty())
}

fn fits_as(value: &Attribute, how: AttributeForm) -> bool {
    match (how, value) {
        (AttributeForm::Any, _) => true,
        (AttributeForm::Integer(bits), Attribute::Integer(_, ty)) => *ty == Type::integer(bits),
        (AttributeForm::Unsigned(bits), Attribute::Integer(_, ty)) => *ty == Type::unsigned(bits),
        (AttributeForm::Integers, _) => {
            matches!(value, Attribute::DenseArray(ty, _) if *ty == Type::integer(64))
        }
        (AttributeForm::Float, Attribute::Float(number)) => {
            matches!(&*number.ty, TypeKind::Float(f) if f.bits() == 64)
        }
        (AttributeForm::Bool, Attribute::Bool(_)) | (AttributeForm::String, Attribute::String(_)) => true,
        (AttributeForm::Symbol, Attribute::Symbol(_)) => true,
        (AttributeForm::StringSymbol, Attribute::String(_)) => is_text(value),
        (AttributeForm::Word(kind), Attribute::Enum(of, _)) => *of == kind,
        (AttributeForm::WordOf(words), Attribute::Integer(at, _)) => {
            usize::try_from(*at).is_ok_and(|at| at < words.len())
        }
        (AttributeForm::Words(kind), Attribute::Array(items)) => {
            items.iter().all(|item| matches!(item, Attribute::Enum(of, _) if *of == kind))
        }
        (AttributeForm::Body(kind), Attribute::Struct(of, _)) => *of == kind,
        (AttributeForm::ConvolutionDimensions, Attribute::Struct(of, _)) => *of == "stablehlo.conv",
        (AttributeForm::Shardings, Attribute::Struct(of, _)) => *of == "sdy.sharding_per_value",
        _ => false,
    }
}

fn fits_types(tree: &Tree, op: &Operation, types: Types) -> bool {
    let ty = |value: &ValueId| tree.type_of(*value);
    match types {
        Types::Function | Types::Same | Types::Arrow => true,
        Types::Results => !op.results.is_empty() && op.operands.is_empty(),
        Types::Operands => op.results.is_empty(),
        Types::OperandsSame => {
            op.results.is_empty()
                && !op.operands.is_empty()
                && op.operands.iter().all(|v| ty(v) == ty(&op.operands[0]))
        }
        Types::Pairwise => op.operands.iter().map(ty).eq(op.results.iter().map(ty)),
        Types::To => !op.operands.is_empty() && !op.results.is_empty(),
        Types::Tuple => matches!(&op.results[..], [result] if matches!(&**ty(result),
            TypeKind::Tuple(parts) if op.operands.iter().map(ty).eq(parts))),
        Types::Select => op.operands.len() == 3 && op.results.len() == 1,
        Types::Complex => op.operands.len() == 2 && op.results.len() == 1,
    }
}

fn is_text(value: &Attribute) -> bool {
    matches!(value, Attribute::String(_)) && value.as_str().is_some()
}

fn has_no_values(op: &Operation) -> bool {
    op.operands.is_empty() && op.results.is_empty()
}

/// Returns the block of a region, if it has exactly one.
fn entry(op: &Operation, region: usize) -> Option<&Block> {
    match op.regions.get(region)? {
        Region { blocks } if blocks.len() == 1 => blocks.first(),
        _ => None,
    }
}

fn fits_typed_constant(tree: &Tree, op: &Operation) -> bool {
    let [result] = op.results[..] else { return false };
    let result = tree.type_of(result);
    let has_type = match op.attribute("value") {
        Some(Attribute::Elements(elements)) => elements.ty == *result,
        Some(Attribute::Integer(_, ty)) => ty == result,
        Some(Attribute::Float(number)) => number.ty == *result,
        Some(Attribute::Bool(_)) => Type::integer(1) == *result,
        _ => false,
    };
    has_type && op.operands.is_empty() && op.regions.is_empty()
}

fn fits_reduce(tree: &Tree, op: &Operation) -> bool {
    let pairs = op.operands.len();
    pairs > 0
        && pairs.is_multiple_of(2)
        && op.regions.len() == 1
        && op.attribute("dimensions").is_some_and(|value| fits_as(value, AttributeForm::Integers))
        && entry(op, 0)
            .is_some_and(|block| block.arguments.len().is_multiple_of(2) && !block.operations.is_empty())
        && tree.type_of(op.operands[0]).as_tensor().is_some()
}

fn fits_while(tree: &Tree, op: &Operation) -> bool {
    let types = |values: &[ValueId]| values.iter().map(|&v| tree.type_of(v).clone()).collect::<Vec<_>>();
    let operands = types(&op.operands);
    op.regions.len() == 2
        && types(&op.results) == operands
        && (0..2).all(|i| entry(op, i).is_some_and(|block| types(&block.arguments) == operands))
}

fn fits_scan(op: &Operation) -> bool {
    let sizes = |name| op.attribute(name).and_then(Attribute::ints).unwrap_or_default();
    let (operands, results) = (sizes("operandSegmentSizes"), sizes("resultSegmentSizes"));
    let sum = |sizes: &[i64]| sizes.iter().try_fold(0usize, |n, &s| n.checked_add(usize::try_from(s).ok()?));
    operands.len() == 2
        && results.len() == 2
        && operands[1] == results[1]
        && sum(&operands) == Some(op.operands.len())
        && sum(&results) == Some(op.results.len())
        && op.attribute("dimension").is_some_and(|value| fits_as(value, AttributeForm::Integer(64)))
        && op.regions.len() == 1
}

fn fits_function(tree: &Tree, op: &Operation) -> bool {
    let Some(Attribute::Type(ty)) = op.attribute("function_type") else { return false };
    let TypeKind::Function { inputs, results } = &**ty else { return false };
    let fits_list = |name, len| match op.attribute(name) {
        None => true,
        Some(Attribute::Array(items)) => {
            items.len() == len && items.iter().all(|item| matches!(item, Attribute::Dictionary(_)))
        }
        Some(_) => false,
    };
    let visible = |value: &Attribute| matches!(value.as_str(), Some("public" | "private" | "nested"));
    let takes_inputs = |block: &Block| block.arguments.iter().map(|&v| tree.type_of(v)).eq(inputs);
    has_no_values(op)
        && op.attribute("sym_name").is_some_and(is_text)
        && op.attribute("sym_visibility").is_none_or(|value| is_text(value) && visible(value))
        && fits_list("arg_attrs", inputs.len())
        && fits_list("res_attrs", results.len())
        && op.regions.len() == 1
        && op.regions[0].blocks.first().is_none_or(takes_inputs)
}
