//! Formats HLO text: prints modules, with comments at their original places.

use crate::comments::Comments;
use crate::split;
use hlo_ir::diag::Diag;
use hlo_ir::print::{Place, PrintOptions, print_module_with_places};
use hlo_ir::{Module, Span};
use hlo_parser::Parsed;

/// The options of formatting.
#[derive(Clone, Debug, Default)]
pub struct FormatOptions {
    /// The form in which modules are printed.
    pub print: PrintOptions,
    /// Whether lines `// -----` separate modules.
    pub split: bool,
    /// Whether to format modules that the verifier rejects.
    pub no_verify: bool,
    /// Whether to remove comments.
    pub drop_comments: bool,
}

/// The reason why a text cannot be formatted.
#[derive(Debug)]
pub enum Unformatted {
    /// The errors in the text.
    Errors(Vec<Diag>),
    /// The span of a comment that would be lost.
    Comment(Span),
}

/// The result of formatting a text.
#[derive(Debug)]
pub struct Formatted {
    /// The formatted text.
    pub text: String,
    /// The warnings about the original text.
    pub warnings: Vec<Diag>,
}

/// Parses HLO text, and verifies the module unless `no_verify`.
///
/// # Errors
/// Returns the errors of the parser, or the errors of the verifier followed by the warnings of the parser.
pub fn parse_and_verify(text: &str, no_verify: bool) -> Result<Parsed, Vec<Diag>> {
    verified(hlo_parser::parse(text)?, no_verify)
}

/// Verifies a module unless `no_verify`.
///
/// # Errors
/// Returns the errors of the verifier, followed by the existing warnings.
pub fn verified(mut parsed: Parsed, no_verify: bool) -> Result<Parsed, Vec<Diag>> {
    if !no_verify {
        let mut diags = hlo_ir::verify::verify(&parsed.module);
        if !diags.is_empty() {
            diags.extend(parsed.warnings);
            return Err(diags);
        }
        parsed.warnings.extend(hlo_ir::verify::warnings(&parsed.module));
    }
    Ok(parsed)
}

/// Like [`parse_and_verify`], and normalizes the module as XLA does.
///
/// # Errors
/// Returns the errors of [`parse_and_verify`].
pub fn read_module(text: &str, no_verify: bool) -> Result<Parsed, Vec<Diag>> {
    let mut parsed = parse_and_verify(text, no_verify)?;
    // Normalize last, because diagnostics use the names in the text.
    parsed.module.normalize();
    Ok(parsed)
}

/// Formats a text. Each comment keeps its place: on lines of its own before a computation, an instruction or
/// a `}`, or after one of them on the same line. It moves together with that item. The result ends with one
/// line end. Formatting the result again does not change it.
///
/// # Errors
/// Returns one of these errors:
/// - the errors of [`split::parts`];
/// - the errors of [`read_module`] for all parts, with the warnings of the other parts;
/// - the span of a comment that is not at an item with its own line.
pub fn format_text(text: &str, options: &FormatOptions) -> Result<Formatted, Unformatted> {
    let whole = 0..text.len();
    let parts = if options.split { split::parts(text).map_err(Unformatted::Errors)? } else { vec![whole] };
    let mut out = String::with_capacity(text.len());
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for (n, range) in parts.into_iter().enumerate() {
        let base = range.start;
        let lost = |comment: Span| Unformatted::Comment(comment.moved(base));
        let part = &text[range];
        // An error in one part does not prevent processing of the others.
        let module = match read_module(part, options.no_verify) {
            Ok(parsed) => {
                warnings.extend(parsed.warnings.into_iter().map(|d| d.moved(base)));
                parsed.module
            }
            Err(diags) => {
                errors.extend(diags.into_iter().map(|d| d.moved(base)));
                continue;
            }
        };
        if n > 0 {
            out.push_str(&format!("\n{}\n\n", split::SEPARATOR));
        }
        let comments = if options.drop_comments {
            Comments::default()
        } else {
            Comments::of(part, &module).map_err(lost)?
        };
        print_with_comments(&mut out, part, &module, &options.print, comments).map_err(lost)?;
    }
    if errors.is_empty() {
        return Ok(Formatted { text: out, warnings });
    }
    errors.extend(warnings);
    Err(Unformatted::Errors(errors))
}

/// Prints a module with comments. Returns the span of a comment whose place is not printed.
fn print_with_comments(
    out: &mut String,
    text: &str,
    module: &Module,
    options: &PrintOptions,
    mut comments: Comments<'_>,
) -> Result<(), Span> {
    let (printed, places) = print_module_with_places(module, options);
    if !comments.head.is_empty() {
        push_lines(out, comments.head);
        out.push('\n');
    }
    let mut at = 0;
    for (n, &(start, place)) in places.iter().enumerate() {
        let Some(around) = comments.places.remove(&place) else { continue };
        let end = match (place, places.get(n + 1)) {
            // A value may extend over several lines.
            (Place::Header | Place::Tables | Place::Head(_) | Place::Instruction(_), Some(&(next, _))) => {
                start + printed[start..next].trim_end().len()
            }
            _ => printed[start..].find('\n').map_or(printed.len(), |n| start + n),
        };
        out.push_str(&printed[at..start]);
        for comment in around.before {
            out.push_str(if matches!(place, Place::Instruction(_) | Place::End(_)) { "  " } else { "" });
            push_lines(out, &text[comment.range()]);
            out.push('\n');
        }
        out.push_str(&printed[start..end]);
        push_behind(out, text, &around.after);
        at = end;
    }
    out.push_str(printed[at..].trim_end());
    out.push('\n');
    if !comments.tail.is_empty() {
        out.push('\n');
        push_lines(out, comments.tail);
        out.push('\n');
    }
    // For example, comments in a computation that is printed inside an asynchronous instruction.
    let lost = comments.places.values().flat_map(|a| a.before.iter().chain(&a.after));
    lost.min_by_key(|c| c.start).map_or(Ok(()), |&c| Err(c))
}

fn push_behind(out: &mut String, text: &str, comments: &[Span]) {
    for comment in comments {
        out.push(' ');
        push_lines(out, &text[comment.range()]);
    }
}

/// Appends a text with the line ends of printed modules.
fn push_lines(out: &mut String, text: &str) {
    for (n, line) in text.replace("\r\n", "\n").split(['\n', '\r']).enumerate() {
        if n > 0 {
            out.push('\n');
        }
        out.push_str(line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> Result<String, Unformatted> {
        format_text(text, &FormatOptions { split: true, ..FormatOptions::default() }).map(|f| f.text)
    }

    /// Formats a text, and checks that formatting the result does not change it.
    fn formatted(text: &str) -> String {
        let out = format(text).unwrap();
        assert_eq!(format(&out).unwrap(), out);
        out
    }

    #[test]
    fn comments_stay_where_they_were() {
        let text = "/* head */ HloModule m // header\r\n// above\ne { // open\n  // before\n  x = f32[] parameter(0) // x\n\
                    \n  /* a\n b */ ROOT y = f32[] negate(x) /* c */ /* d */ // e\n  // last\n} // close\n\n// tail\n";
        let expected = "/* head */\nHloModule m, entry_computation_layout={(f32[])->f32[]} // header\n\n// above\n\
                        ENTRY %e (x: f32[]) -> f32[] { // open\n  // before\n  %x = f32[] parameter(0) // x\n  /* a\n b */\n\
                        \x20 ROOT %y = f32[] negate(%x) /* c */ /* d */ // e\n  // last\n} // close\n\n// tail\n";
        assert_eq!(formatted(text), expected);
    }

    #[test]
    fn comments_go_where_their_instructions_go() {
        let text = "HloModule m\nENTRY e {\n  // of c\n  c = f32[] constant(1)\n  // of x\n  x = f32[] parameter(0)\n\
                    ROOT y = f32[] call(x), to_apply={ // of the inner one\n p = f32[] parameter(0) // of p\n\
                    ROOT r = f32[] negate(p)\n // its end\n} // of y\n}\n";
        let out = formatted(text);
        assert!(out.contains("{ // of the inner one\n  %p = f32[] parameter(0) // of p\n"), "{out}");
        assert!(out.contains("  // its end\n}\n"), "{out}");
        assert!(out.contains("  // of c\n  %c") && out.contains("  // of x\n  %x"), "{out}");
        assert!(out.contains(" // of y\n}\n"), "{out}");
    }

    #[test]
    fn a_comment_without_a_place_is_an_error() {
        for text in [
            "HloModule m\ne { x = f32[] parameter(0) ROOT /*here*/ y = f32[] negate(x) }",
            "HloModule m\ne { ROOT x = f32[] parameter(/*here*/0) }",
            "HloModule /*here*/ m\ne { ROOT x = f32[] parameter(0) }",
            "HloModule m\ne /*here*/ { ROOT x = f32[] parameter(0) }",
            // The computation is printed inside its call.
            "HloModule m\nf { /*here*/ p = f32[] parameter(0) ROOT r = f32[] negate(p) }\nENTRY e { x = f32[] parameter(0)\n\
             s = ((f32[]), f32[], u32[]) async-start(x), calls=f\n ROOT d = f32[] async-done(s) }",
        ] {
            match format(text) {
                Err(Unformatted::Comment(span)) => assert_eq!(&text[span.range()], "/*here*/"),
                other => panic!("{other:?} of {text}"),
            }
        }
    }

    #[test]
    fn what_xla_writes_is_no_comment() {
        let text = "HloModule m\ne { ROOT x = (f32[], /*index=5*/f32[]) parameter(0) }";
        assert!(!formatted(text).contains("index"));
    }

    #[test]
    fn modules_are_formatted_one_by_one() {
        let one = "HloModule m, entry_computation_layout={(f32[])->f32[]}\n\nENTRY %e (x: f32[]) -> f32[] {\n\
                   \x20 ROOT %x = f32[] parameter(0)\n}\n";
        let both = format!("{one}\n// -----\n\n// second\n{one}");
        assert_eq!(formatted(&format!("{one}// -----\n// second\n{one}")), both);
    }

    #[test]
    fn many_comments_take_linear_time() {
        let comments = "/**/ ".repeat(100_000) + &"//\n".repeat(100_000);
        let out = formatted(&format!(
            "{comments}HloModule m\n{comments}e {{ ROOT x = f32[] parameter(0) {comments}}}"
        ));
        assert!(out.len() > 6 * 100_000);
    }
}
