//! The arguments resolved against the surroundings: every default filled in, every `auto` decided. Touches
//! no file.

use crate::args::{
    CheckArgs, Colour, Engine, ExplainArgs, FailOn, Format, KeepArgs, ShowArgs, StoryFormat, WatchArgs,
};
use console::Term;
use findings::Confidence;
use report::text::Look;
use std::ffi::OsString;
use std::path::PathBuf;

pub struct Settings {
    pub request: project::Request,
    pub options: session::Options,
    /// Model files on top of the shipped ones, the last on top.
    pub models: Vec<PathBuf>,
    pub keep: Keep,
    pub format: Format,
    /// Standard output if there is none.
    pub output: Option<PathBuf>,
    pub look: Look,
    /// Findings below this are only counted.
    pub least: Confidence,
    /// Findings from here on fail the run; none do if there is none.
    pub fail_on: Option<Confidence>,
    pub stats: bool,
    pub notes: bool,
    pub quiet: bool,
    pub progress: bool,
    /// Where there is no progress to see, a long run is announced in a line.
    pub announce: bool,
}

/// Where reports are kept for the next run.
#[derive(Debug, PartialEq, Eq)]
pub enum Keep {
    Nowhere,
    /// In the directory that is analysed, if it is that of a project.
    InProject,
    In(PathBuf),
}

/// What the process can see of where it runs; an argument, so that tests can choose it.
pub struct Surroundings {
    pub no_color: Option<OsString>,
    pub term: Option<OsString>,
    /// Columns of the terminal that standard output is, if it is one.
    pub stdout: Option<usize>,
    pub stderr_is_terminal: bool,
}

impl Surroundings {
    pub fn current() -> Surroundings {
        let (stdout, stderr) = (Term::stdout(), Term::stderr());
        Surroundings {
            no_color: std::env::var_os("NO_COLOR"),
            term: std::env::var_os("TERM"),
            stdout: stdout.is_term().then(|| usize::from(stdout.size().1)),
            stderr_is_terminal: stderr.is_term(),
        }
    }

    fn colours(&self) -> bool {
        let refused = self.no_color.as_ref().is_some_and(|value| !value.is_empty());
        let dumb = self.term.as_ref().is_some_and(|term| term == "dumb");
        self.stdout.is_some() && !refused && !dumb
    }
}

impl Settings {
    pub fn resolve(args: CheckArgs, around: &Surroundings) -> Settings {
        let fail_on = fail_on(args.fail_on);
        let (program, show) = (args.program, args.show);
        Settings {
            look: look(&show, around.stdout.filter(|_| args.output.is_none()), around),
            least: least(show.all, fail_on),
            fail_on,
            progress: around.stderr_is_terminal && !show.quiet,
            announce: !around.stderr_is_terminal
                && !show.quiet
                && program.main.is_empty()
                && program.entry.is_empty(),
            request: project::Request {
                paths: program.paths,
                classpath: program.classpath.iter().flat_map(elements).collect(),
                jdk: program.jdk,
            },
            options: session::Options {
                full_jdk: program.full_jdk,
                exclude: program.exclude,
                mains: program.main,
                entries: program.entry,
                least: least(show.all, fail_on),
                engines: engines(program.engine),
                threads: program.threads.map_or(0, usize::from),
                follow: false,
                keep: false,
            },
            models: program.models,
            keep: keep(args.keep, args.stats),
            format: args.format,
            output: args.output,
            stats: args.stats,
            notes: show.notes,
            quiet: show.quiet,
        }
    }

    /// Text on standard output, and no finding fails anything.
    pub fn for_watching(args: WatchArgs, around: &Surroundings) -> Settings {
        let WatchArgs { program, keep, show, poll: _ } = args;
        let (format, fail_on) = (Format::Text, FailOn::Never);
        let args = CheckArgs { program, keep, format, output: None, fail_on, stats: false, show };
        let mut settings = Settings::resolve(args, around);
        settings.options.follow = true;
        settings
    }
}

impl Settings {
    /// Those of a check that was told nothing else, so that what it has kept is of use.
    pub fn for_explaining(args: ExplainArgs, around: &Surroundings) -> Settings {
        let ExplainArgs { id: _, program, keep, format, color } = args;
        let format = match format {
            StoryFormat::Text => Format::Text,
            StoryFormat::Json => Format::Json,
        };
        let show = ShowArgs { all: false, notes: false, quiet: false, color };
        let fail_on = FailOn::Never;
        let args = CheckArgs { program, keep, format, output: None, fail_on, stats: false, show };
        Settings::resolve(args, around)
    }

    /// Everything is told in full, however doubtful.
    pub fn with_all(mut self) -> Settings {
        self.least = Confidence::Low;
        self.options.least = Confidence::Low;
        self
    }
}

/// What is measured has to run, unless what is kept is named.
fn keep(args: KeepArgs, stats: bool) -> Keep {
    match args.cache {
        Some(directory) => Keep::In(directory),
        None if args.no_cache || stats => Keep::Nowhere,
        None => Keep::InProject,
    }
}

fn engines(engine: Engine) -> session::Engines {
    match engine {
        Engine::Both => session::Engines::Both,
        Engine::WholeProgram => session::Engines::WholeProgram,
        Engine::Compositional => session::Engines::Compositional,
    }
}

fn fail_on(level: FailOn) -> Option<Confidence> {
    match level {
        FailOn::High => Some(Confidence::High),
        FailOn::Medium => Some(Confidence::Medium),
        FailOn::Low => Some(Confidence::Low),
        FailOn::Never => None,
    }
}

/// What fails a run is always shown.
fn least(all: bool, fail_on: Option<Confidence>) -> Confidence {
    if all || fail_on == Some(Confidence::Low) { Confidence::Low } else { Confidence::Medium }
}

fn look(show: &ShowArgs, terminal: Option<usize>, around: &Surroundings) -> Look {
    let coloured = match show.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => terminal.is_some() && around.colours(),
    };
    let look = if coloured { Look::coloured() } else { Look::plain() };
    match terminal {
        Some(columns) => look.width(columns),
        None => look,
    }
}

fn elements(paths: &OsString) -> Vec<PathBuf> {
    std::env::split_paths(paths).filter(|path| !path.as_os_str().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Command};
    use findings::{Note, Report};

    fn settings(args: &[&str], around: &Surroundings) -> Settings {
        let args = ["snarl", "check"].iter().chain(args).map(OsString::from);
        let Command::Check(args) = args::parse(args).command else { panic!("not check") };
        Settings::resolve(args, around)
    }

    fn terminal() -> Surroundings {
        Surroundings {
            no_color: None,
            term: Some("xterm".into()),
            stdout: Some(80),
            stderr_is_terminal: true,
        }
    }

    fn coloured(args: &[&str], around: &Surroundings) -> bool {
        let note = Note { kind: "k".into(), message: "m".into(), count: 1 };
        report::text::note(&note, &settings(args, around).look).contains('\u{1b}')
    }

    #[test]
    fn without_arguments_the_current_directory_is_checked() {
        let settings = settings(&[], &terminal());
        assert_eq!(settings.request.paths, [PathBuf::from(".")]);
        assert_eq!(settings.options.threads, 0);
        assert_eq!((settings.least, settings.fail_on), (Confidence::Medium, Some(Confidence::Medium)));
    }

    #[test]
    fn class_paths_are_split_and_joined() {
        let separator = if cfg!(windows) { ";" } else { ":" };
        let list = ["a.jar", "", "lib/*"].join(separator);
        let settings = settings(&["-cp", &list, "--classpath", "b.jar"], &terminal());
        assert_eq!(settings.request.classpath, ["a.jar", "lib/*", "b.jar"].map(PathBuf::from));
    }

    #[test]
    fn what_fails_a_run_is_shown() {
        let least = |args: &[&str]| settings(args, &terminal()).least;
        assert_eq!(least(&["--fail-on", "high"]), Confidence::Medium);
        assert_eq!(least(&["--fail-on", "never"]), Confidence::Medium);
        assert_eq!(least(&["--fail-on", "low"]), Confidence::Low);
        assert_eq!(least(&["--all"]), Confidence::Low);
        assert!(Report::default().shown(least(&[])).next().is_none());
    }

    #[test]
    fn reports_are_kept_unless_told_otherwise_or_measured() {
        let keep = |args: &[&str]| settings(args, &terminal()).keep;
        assert_eq!(keep(&[]), Keep::InProject);
        assert_eq!(keep(&["--cache", "there"]), Keep::In("there".into()));
        assert_eq!(keep(&["--no-cache"]), Keep::Nowhere);
        assert_eq!(keep(&["--stats"]), Keep::Nowhere);
        assert_eq!(keep(&["--stats", "--cache", "there"]), Keep::In("there".into()));
    }

    #[test]
    fn colour_is_for_terminals_that_want_it() {
        assert!(coloured(&[], &terminal()));
        assert!(coloured(&[], &Surroundings { no_color: Some("".into()), ..terminal() }));
        assert!(!coloured(&[], &Surroundings { no_color: Some("1".into()), ..terminal() }));
        assert!(!coloured(&[], &Surroundings { term: Some("dumb".into()), ..terminal() }));
        assert!(!coloured(&[], &Surroundings { stdout: None, ..terminal() }));
        assert!(!coloured(&["--output", "report.txt"], &terminal()));
        assert!(!coloured(&["--color", "never"], &terminal()));
        assert!(coloured(&["--color", "always"], &Surroundings { stdout: None, ..terminal() }));
    }

    #[test]
    fn progress_is_for_terminals_and_not_when_quiet() {
        assert!(settings(&[], &terminal()).progress);
        assert!(!settings(&["--quiet"], &terminal()).progress);
        assert!(!settings(&[], &Surroundings { stderr_is_terminal: false, ..terminal() }).progress);
    }
}
