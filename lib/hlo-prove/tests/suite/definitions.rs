//! The solver's definitions of operations agree with the interpreter.

use super::{rule, solver};
use hlo_ir::Opcode;
use hlo_prove::{compare_definition, typings};

/// Returns a pattern with one operation, for each direction if it is a comparison.
fn pattern(opcode: Opcode) -> Option<String> {
    let operands = ["x", "y", "z"].get(..opcode.elementwise()?.class.operands())?.join(", ");
    Some(match opcode {
        Opcode::ReducePrecision | Opcode::StochasticConvert => return None,
        // The type of a conversion is that of another operand.
        Opcode::Convert => "and(convert(x), y) => y where integer(y), integer(x) || pred(x)".to_string(),
        Opcode::Compare => {
            format!("compare({operands}, d) => compare({operands}, d) for d in EQ | NE | LT | LE | GT | GE")
        }
        _ => format!("{0}({operands}) => {0}({operands})", opcode.name()),
    })
}

#[test]
fn operations_have_the_values_of_the_interpreter() {
    let solver = solver();
    let mut compared = 0;
    for &opcode in Opcode::ELEMENTWISE {
        let Some(pattern) = pattern(opcode) else { continue };
        for clause in rule(&pattern).clauses.iter() {
            for typing in typings(clause) {
                let (rows, different) = match compare_definition(clause, &typing, &solver) {
                    // The remainder of complex numbers is valid in HLO, but nothing computes it.
                    Err(why) if why.ends_with("is not defined") => continue,
                    other => other.unwrap_or_else(|e| panic!("{} [{typing}]: {e}", clause.text)),
                };
                assert_eq!(different, None, "{} [{typing}]", clause.text);
                compared += usize::from(rows > 0);
            }
        }
    }
    assert!(compared > 500, "only {compared} definitions were compared");
}
