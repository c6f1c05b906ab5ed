//! `--format` and `--check-format`: formats texts.

use crate::args::Cli;
use crate::check_format;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::print::PrintOptions;
use hlo_tools_common::format::{FormatOptions, Formatted, Unformatted, format_text};
use hlo_tools_common::{Failure, Reporter, print, write_output};

/// Formats the text that was read from `input`, or checks its format. Returns the text to write together with
/// that of other files.
pub fn run(
    cli: &Cli,
    reporter: Reporter,
    input: &str,
    source: &Source,
    print_options: &PrintOptions,
) -> Result<String, Failure> {
    let options = FormatOptions {
        print: print_options.clone(),
        split: cli.split_input_file,
        no_verify: cli.no_verify,
        drop_comments: cli.drop_comments,
    };
    let formatted = match format_text(&source.text, &options) {
        Ok(Formatted { text, warnings }) => {
            reporter.warnings(source, &warnings);
            text
        }
        Err(Unformatted::Errors(diags)) => return Err(Failure::diags(source, diags)),
        Err(Unformatted::Comment(span)) => {
            let diag = Diag::error("formatting would lose this comment")
                .at(span, "it stands inside of what is printed as one line")
                .note("move it to a line of its own, or leave all comments out with `--drop-comments`");
            return Err(Failure::diags(source, vec![diag]));
        }
    };
    if cli.check_format {
        return match check_format::difference(&source.name, &source.text, &formatted) {
            None => Ok(String::new()),
            Some(shown) => print(shown.as_bytes()).and(Err(Failure::Shown)),
        };
    }
    if !cli.in_place {
        return Ok(formatted);
    }
    if input == "-" {
        return Err(Failure::Usage("--in-place needs a file, not standard input".into()));
    }
    write_output(Some(input), formatted.as_bytes()).map(|()| String::new())
}
