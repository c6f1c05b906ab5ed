//! `--print-options`: parses a form and changes to it.

use hlo_ir::print::PrintOptions;
use hlo_ir::suggest::nearest;
use hlo_tools_common::Failure;

/// A switch of [`PrintOptions`]: its name and its field.
type Switch = (&'static str, fn(&mut PrintOptions) -> &mut bool);

/// A form: its name and its options.
type Form = (&'static str, fn() -> PrintOptions);

/// The forms.
const FORMS: &[Form] = &[
    ("default", PrintOptions::default),
    ("short", PrintOptions::short),
    ("canonical", PrintOptions::canonical),
    ("fingerprint", PrintOptions::fingerprint),
];

/// The switches, in the order of the help.
const SWITCHES: &[Switch] = &[
    ("operand-shapes", |o| &mut o.operand_shapes),
    ("layouts", |o| &mut o.layouts),
    ("percent", |o| &mut o.percent),
    ("signatures", |o| &mut o.program_shape),
    ("large-constants", |o| &mut o.print_large_constants),
    ("metadata", |o| &mut o.metadata),
    ("backend-config", |o| &mut o.backend_config),
    ("control-predecessors", |o| &mut o.control_predecessors),
    ("index-annotations", |o| &mut o.index_annotations),
    ("compact-gte", |o| &mut o.compact_gte),
    ("canonical-names", |o| &mut o.canonical_names),
    ("inline", |o| &mut o.inline_computations),
];

/// The help text of the option.
pub const HELP: &str = "\
How modules are printed: a form, then changes to it, separated by commas

Forms:
  default       XLA's default form, with large constants in full. It keeps all information
  short         without %, signatures, metadata, control predecessors and index annotations
  canonical     for comparisons: short, with operand shapes, names tmp_0, tmp_1, … and called computations
                inline, without backend configs and large constants
  fingerprint   canonical, without names, with only essential constants, with computations in text order

Changes: NAME or NAME=on turns a switch on, NAME=off turns it off:
  operand-shapes        shapes of operands
  layouts               layouts of shapes
  percent               % before names
  signatures            (p: f32[2]) -> f32[2] after a computation's name
  large-constants       constants of more than ten elements in full, instead of {...}
  metadata              metadata= and the stack-frame tables
  backend-config        backend_config=
  control-predecessors  control-predecessors=
  index-annotations     /*index=5*/ before every fifth operand
  compact-gte           %t#1 for an operand that is an element of a tuple
  canonical-names       names tmp_0, tmp_1, … for instructions
  inline                called computations inline";

/// Parses the value of `--print-options`.
pub fn parse(text: &str) -> Result<PrintOptions, Failure> {
    let mut words = text.split(',').map(str::trim).filter(|w| !w.is_empty()).peekable();
    let mut options = PrintOptions::default();
    if let Some(form) = words.peek().and_then(|w| FORMS.iter().find(|(name, _)| name == w)) {
        options = form.1();
        words.next();
    }
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, "on"));
        let Some((_, field)) = SWITCHES.iter().find(|(n, _)| *n == name) else {
            return Err(unknown(name));
        };
        *field(&mut options) = match value {
            "on" => true,
            "off" => false,
            _ => return Err(usage(format!("`{name}` is `on` or `off`, not `{value}`"))),
        };
    }
    Ok(options)
}

fn usage(message: String) -> Failure {
    Failure::Usage(format!("--print-options: {message}"))
}

fn unknown(name: &str) -> Failure {
    if FORMS.iter().any(|(n, _)| *n == name) {
        return usage(format!("the form `{name}` comes first, and there is one"));
    }
    let known = || FORMS.iter().map(|(n, _)| *n).chain(SWITCHES.iter().map(|(n, _)| *n));
    usage(match nearest(name, known()) {
        Some(n) => format!("there is no form or switch `{name}`; did you mean `{n}`?"),
        None => {
            let all: Vec<&str> = known().collect();
            format!("there is no form or switch `{name}`; there are {}", all.join(", "))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_then_changes() {
        assert_eq!(parse("").unwrap(), PrintOptions::default());
        assert_eq!(parse("short").unwrap(), PrintOptions::short());
        let options = parse("short, operand-shapes,metadata=on,large-constants=off").unwrap();
        let expected = PrintOptions {
            operand_shapes: true,
            metadata: true,
            print_large_constants: false,
            ..PrintOptions::short()
        };
        assert_eq!(options, expected);
        assert_eq!(parse("percent=off").unwrap(), PrintOptions { percent: false, ..PrintOptions::default() });
    }

    #[test]
    fn what_is_unknown_is_told() {
        let message = |text: &str| match parse(text) {
            Err(Failure::Usage(m)) => m,
            other => format!("{other:?}"),
        };
        assert!(message("shorts").ends_with("did you mean `short`?"));
        assert!(message("metdata=off").ends_with("did you mean `metadata`?"));
        assert!(message("metadata,short").ends_with("comes first, and there is one"));
        assert!(message("metadata=no").ends_with("`on` or `off`, not `no`"));
    }

    #[test]
    fn the_help_lists_every_word() {
        for name in FORMS.iter().map(|(n, _)| *n).chain(SWITCHES.iter().map(|(n, _)| *n)) {
            assert!(HELP.contains(&format!("\n  {name} ")), "{name}");
        }
    }
}
