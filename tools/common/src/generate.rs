//! `--completions` and `--man`: generates shell completions and manual pages from a tool's command line.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;

const COMPLETIONS: &str = "completions";
const MAN: &str = "man";
const HEADING: &str = "Setting up";

/// Adds the two options to a command line. Each of them excludes all other arguments.
pub(crate) fn with_options(command: Command) -> Command {
    let completions = Arg::new(COMPLETIONS)
        .long(COMPLETIONS)
        .value_name("SHELL")
        .value_parser(value_parser!(Shell))
        .help("Print the completion script for a shell. Store it where the shell looks for such scripts");
    let man =
        Arg::new(MAN).long(MAN).action(ArgAction::SetTrue).help("Print the manual page, for `man -l -`");
    [completions, man]
        .into_iter()
        .fold(command, |command, arg| command.arg(arg.exclusive(true).help_heading(HEADING)))
}

/// Returns the completions or the manual page, if requested.
pub(crate) fn requested_output(command: &Command, matches: &ArgMatches) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(&shell) = matches.get_one::<Shell>(COMPLETIONS) {
        let name = command.get_name().to_string();
        clap_complete::generate(shell, &mut command.clone(), name, &mut text);
        return Some(text);
    }
    if matches.get_flag(MAN) {
        // Writing to memory does not fail.
        clap_mangen::Man::new(command.clone()).render(&mut text).ok()?;
        return Some(text);
    }
    None
}
