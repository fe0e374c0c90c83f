//! The arguments as typed. Knows their names and help texts, and nothing of what they lead to.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, value_parser};
use std::ffi::OsString;
use std::path::PathBuf;

/// Finds data races and deadlocks in JVM programs.
#[derive(Debug, Parser)]
#[command(name = "snarl", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit code:
  0  analysed, nothing found (at the level of --fail-on)
  1  analysed, with findings
  2  not analysed: wrong usage, nothing that can be read, no entry point, no JDK";

const WATCH_ENDS: &str = "Ctrl-C ends it, with exit code 0; 2 means that it could not begin.";

const EXPLAIN_CODES: &str = "Exit code: 0 if it is explained, 2 if there is no such finding, field or line.";
const DIFF_ENDS: &str = "\
Examples:
  snarl diff main                  the working tree against a branch
  snarl diff v1..v2                two revisions; v1...v2 begins where they parted
  snarl diff old.jar new.jar       two jars, class directories or source trees

Exit code:
  0  both analysed, nothing introduced (at the level of --fail-on)
  1  both analysed, with findings introduced
  2  one of them not analysed";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Analyse a program and print its data races and deadlocks.
    #[command(after_help = EXIT_CODES)]
    Check(CheckArgs),
    /// Analyse a program, follow its files, and tell what each change brings and repairs.
    #[command(after_help = WATCH_ENDS)]
    Watch(WatchArgs),
    /// Speak with an editor: the language server on standard input and output.
    Lsp(LspArgs),
    /// Explain one finding in detail, or all that is known of a field or of a line.
    #[command(after_help = EXPLAIN_CODES)]
    Explain(ExplainArgs),
    /// List the threads, tasks and timers of a program: where each starts, what it runs, what it overlaps.
    Threads(ListArgs),
    /// List the locks of a program: where each is taken, what it guards, which locks are taken while it is held.
    Locks(ListArgs),
    /// List the fields of a program with the lock that guards each, and how many accesses hold it.
    Guards(ListArgs),
    /// List the rules, or tell about one: what it means, examples, how to fix and to suppress it.
    Rules(RulesArgs),
    /// Analyse two versions of a program and print what the newer one introduces and fixes.
    #[command(after_help = DIFF_ENDS)]
    Diff(DiffArgs),
    /// Measure how the analysis follows edits of a program.
    #[command(subcommand)]
    Bench(BenchCommand),
}

#[derive(Debug, ClapArgs)]
pub struct LspArgs {
    /// Taken for clients that say how they speak; there is no other way.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Delete statements of a program one by one and put them back; print how long each update took.
    Edits(EditsArgs),
}

#[derive(Debug, ClapArgs)]
pub struct EditsArgs {
    #[command(flatten)]
    pub program: CheckArgs,

    /// Try so many statements, drawn at random, instead of all.
    #[arg(long, value_name = "N", help_heading = "Edits")]
    pub sample: Option<usize>,

    /// What the random choice begins with.
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Edits")]
    pub seed: u64,

    /// Empty whole methods instead of deleting statements.
    #[arg(long, help_heading = "Edits")]
    pub method: bool,

    /// Go to another version of the program, a jar or class directory, and back, instead of deleting anything.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sample", "method"], help_heading = "Edits")]
    pub commit: Option<PathBuf>,

    /// Compare with a run from nothing after every K edits, and at the end; the first difference ends it with exit code 1.
    #[arg(long, value_name = "K", help_heading = "Edits")]
    pub verify: Option<usize>,

    /// Follow only as far as points-to.
    #[arg(long, help_heading = "Edits")]
    pub points_to: bool,

    /// Print JSON instead of a table.
    #[arg(long, help_heading = "Edits")]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    #[command(flatten)]
    pub keep: KeepArgs,

    /// How to print the findings.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Write the report to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// The least confidence that makes the exit code 1 [default: medium]
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = "Output")]
    pub fail_on: Option<FailOn>,

    #[command(flatten)]
    pub accept: AcceptArgs,

    /// Show sizes, time per stage, and how many pairs each stage leaves.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,

    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, ClapArgs)]
pub struct DiffArgs {
    /// What was: a revision of the git repository here, or a path.
    #[arg(value_name = "BASE")]
    pub base: String,

    /// What is: likewise [default: the working tree as it is]
    #[arg(value_name = "HEAD")]
    pub head: Option<String>,

    /// What of each revision is analysed, by its path in the working tree [default: the current directory]. May be repeated.
    #[arg(long = "path", value_name = "PATH", help_heading = "Program")]
    pub paths: Vec<PathBuf>,

    /// Run this in the root of each revision first: for projects that need their build tool.
    #[arg(long, value_name = "COMMAND", help_heading = "Program")]
    pub build: Option<String>,

    #[command(flatten)]
    pub settings: ProgramSettings,

    #[command(flatten)]
    pub keep: KeepArgs,

    /// How to print the findings.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Write the report to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// The least confidence of what is introduced that makes the exit code 1 [default: medium]
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = "Output")]
    pub fail_on: Option<FailOn>,

    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, ClapArgs)]
pub struct WatchArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    #[command(flatten)]
    pub keep: KeepArgs,

    #[command(flatten)]
    pub show: ShowArgs,

    /// Look at the files every second; for disks of whose changes the system does not tell.
    #[arg(long, help_heading = "Program")]
    pub poll: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ExplainArgs {
    /// A finding by its id, as `check` shows it, or how that begins; a field, `Account.balance`; a line, `Account.java:12`.
    #[arg(value_name = "WHAT", value_parser = NonEmptyStringValueParser::new())]
    pub id: String,

    #[command(flatten)]
    pub program: ProgramArgs,

    #[command(flatten)]
    pub keep: KeepArgs,

    /// How to print it.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = StoryFormat::Text, help_heading = "Output")]
    pub format: StoryFormat,

    /// Colour the text; `auto` does on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, help_heading = "Output")]
    pub color: Colour,
}

#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// How to print the list.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = StoryFormat::Text, help_heading = "Output")]
    pub format: StoryFormat,
}

#[derive(Debug, ClapArgs)]
pub struct RulesArgs {
    /// The rule to tell about.
    #[arg(value_name = "ID")]
    pub id: Option<String>,
}

/// What is accepted already.
#[derive(Debug, Default, ClapArgs)]
pub struct AcceptArgs {
    /// Tell only what is not in this baseline.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub baseline: Option<PathBuf>,

    /// Write all findings to this file, to be accepted from now on.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub write_baseline: Option<PathBuf>,
}

/// What is analysed, and how.
#[derive(Debug, ClapArgs)]
pub struct ProgramArgs {
    /// Jars, class directories, Java source trees, Maven or Gradle projects [default: the current directory]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub settings: ProgramSettings,
}

/// What is said about a program, whichever it is.
#[derive(Debug, ClapArgs)]
pub struct ProgramSettings {
    /// Read settings from this file [default: snarl.toml beside or above the first path]
    #[arg(long, value_name = "FILE", help_heading = "Program")]
    pub config: Option<PathBuf>,

    /// Read settings from no file.
    #[arg(long, conflicts_with = "config", help_heading = "Program")]
    pub no_config: bool,

    /// What the program needs besides itself, as for `java`; also -cp. May be repeated.
    #[arg(long, visible_alias = "class-path", value_name = "PATHS", help_heading = "Program")]
    pub classpath: Vec<OsString>,

    /// Begin at this class's main and at no other. May be repeated.
    #[arg(long, value_name = "CLASS", help_heading = "Program")]
    pub main: Vec<String>,

    /// Begin at this method; mains only if named. May be repeated; entry points never overlap each other.
    #[arg(long, value_name = "CLASS.METHOD", help_heading = "Program")]
    pub entry: Vec<String>,

    /// Use this JDK instead of JAVA_HOME or the one on PATH.
    #[arg(long, value_name = "DIR", help_heading = "Program")]
    pub jdk: Option<PathBuf>,

    /// Look method by method (compositional), from the entry points (whole-program), or both [default: both]
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = "Analysis")]
    pub engine: Option<Engine>,

    /// Analyse the JDK's inner workings as well; slower.
    #[arg(long, help_heading = "Analysis")]
    pub full_jdk: bool,

    /// Do not look into classes whose name begins like this. May be repeated.
    // Every name begins with nothing.
    #[arg(
        long,
        value_name = "PREFIX",
        value_parser = NonEmptyStringValueParser::new(),
        help_heading = "Analysis"
    )]
    pub exclude: Vec<String>,

    /// Facts the whole-program engine may work out before it leaves out dependencies, then entry points
    /// [default: 4000000]
    #[arg(long, value_name = "FACTS", value_parser = value_parser!(u64).range(1..), help_heading = "Analysis")]
    pub budget: Option<u64>,

    /// Read what library calls mean from this file too; its entries win. May be repeated.
    #[arg(long, value_name = "FILE", help_heading = "Analysis")]
    pub models: Vec<PathBuf>,

    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024), help_heading = "Analysis")]
    pub threads: Option<u16>,
}

/// What is kept between runs.
#[derive(Debug, ClapArgs)]
pub struct KeepArgs {
    /// Keep report and solved state in DIR/.snarl for the next run [default: the directory of the project, if one is named]
    #[arg(long, value_name = "DIR", help_heading = "Analysis")]
    pub cache: Option<PathBuf>,

    /// Analyse anew, and keep nothing for the next run.
    #[arg(long, conflicts_with = "cache", help_heading = "Analysis")]
    pub no_cache: bool,
}

/// How much is told, and how it looks.
#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// Show findings of low confidence too.
    #[arg(long, help_heading = "Output")]
    pub all: bool,

    /// List every note about what was not found, understood or analysed.
    #[arg(long, help_heading = "Output")]
    pub notes: bool,

    /// List what is suppressed, and why.
    #[arg(long, help_heading = "Output")]
    pub suppressed: bool,

    /// List what one engine suspects and the other rules out, each with the reason.
    #[arg(long, help_heading = "Output")]
    pub dismissed: bool,

    /// Print findings and nothing else.
    #[arg(long, short, conflicts_with = "notes", help_heading = "Output")]
    pub quiet: bool,

    /// Colour the text; `auto` does on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, help_heading = "Output")]
    pub color: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    Both,
    WholeProgram,
    Compositional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Sarif,
    Github,
    Gitlab,
    Junit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StoryFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    High,
    Medium,
    Low,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

/// Ends the process with a message and exit code 2 if the arguments are wrong.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Args {
    Args::parse_from(as_java(args))
}

/// `java` spells its class path with one dash, and so does everyone who types one.
fn as_java(args: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.into_iter().map(|arg| if arg == "-cp" || arg == "-classpath" { "--classpath".into() } else { arg })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn javas_own_spelling_of_the_class_path_is_understood() {
        for spelling in ["-cp", "-classpath", "--classpath", "--class-path"] {
            let args = ["snarl", "check", spelling, "a.jar:b.jar", "app"].map(OsString::from);
            let Command::Check(check) = parse(args).command else { panic!("not check") };
            assert_eq!(check.program.settings.classpath, ["a.jar:b.jar"]);
            assert_eq!(check.program.paths, [PathBuf::from("app")]);
        }
    }
}
