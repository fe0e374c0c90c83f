//! The arguments resolved against the surroundings: every default filled in, every `auto` decided. Touches
//! no file.

use crate::args::{
    AcceptArgs, CheckArgs, Colour, Engine, ExplainArgs, FailOn, Format, KeepArgs, ListArgs, ShowArgs,
    StoryFormat, WatchArgs,
};
use console::Term;
use findings::Confidence;
use project::Config;
use report::text::Look;
use std::ffi::OsString;
use std::path::PathBuf;
use workspace::{Keep, Setup, annotations, assumptions, configured_engines};

pub struct Settings {
    pub setup: Setup,
    pub format: Format,
    /// Standard output if there is none.
    pub output: Option<PathBuf>,
    pub look: Look,
    /// Findings below this are only counted.
    pub least: Confidence,
    /// Findings from here on fail the run; none do if there is none.
    pub fail_on: Option<Confidence>,
    pub write_baseline: Option<PathBuf>,
    pub stats: bool,
    pub notes: bool,
    pub suppressed: bool,
    /// What is ruled out is listed as well.
    pub dismissed: bool,
    pub quiet: bool,
    pub progress: bool,
    /// Where there is no progress to see, a long run is announced in a line.
    pub announce: bool,
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
    /// What an argument says wins over the file.
    pub fn resolve(args: CheckArgs, config: Config, around: &Surroundings) -> Settings {
        let fail_on = args.fail_on.map_or_else(|| configured(&config), fail_on);
        let (paths, program, show) = (args.program.paths, args.program.settings, args.show);
        let least = least(show.all, config.least, fail_on);
        let mains = or(program.main, &config.main);
        let entries = or(program.entry, &config.entry);
        let classpath = program.classpath.iter().flat_map(elements).collect();
        let accept = accept(args.accept, &config);
        Settings {
            look: look(&show, around.stdout.filter(|_| args.output.is_none()), around),
            least,
            fail_on,
            progress: around.stderr_is_terminal && !show.quiet,
            announce: !around.stderr_is_terminal && !show.quiet && mains.is_empty() && entries.is_empty(),
            setup: Setup {
                request: project::Request {
                    paths: or(or(paths, &config.paths), &[PathBuf::from(".")]),
                    classpath: or(classpath, &config.classpath),
                    jdk: program.jdk.or_else(|| config.jdk.clone()),
                },
                options: session::Options {
                    full_jdk: program.full_jdk || config.full_jdk,
                    exclude: or(program.exclude, &config.exclude),
                    mains,
                    entries,
                    least,
                    engines: program.engine.map_or_else(|| configured_engines(config.engine), engines),
                    annotations: annotations(&config),
                    assume: assumptions(&config),
                    budget: program.budget.or(config.budget).unwrap_or_default(),
                    dependency_budget: None,
                    threads: program.threads.map_or(0, usize::from),
                    follow: false,
                    keep: false,
                },
                models: or(program.models, &config.models),
                keep: keep(args.keep, args.stats),
                baseline: accept.baseline,
                config,
                measured: args.stats,
            },
            format: args.format,
            output: args.output,
            write_baseline: accept.write_baseline,
            stats: args.stats,
            notes: show.notes,
            suppressed: show.suppressed,
            dismissed: show.dismissed,
            quiet: show.quiet,
        }
    }

    /// Text on standard output, and no finding fails anything.
    pub fn for_watching(args: WatchArgs, config: Config, around: &Surroundings) -> Settings {
        let WatchArgs { program, keep, show, poll: _ } = args;
        let (format, fail_on, accept) = (Format::Text, Some(FailOn::Never), AcceptArgs::default());
        let args = CheckArgs { program, keep, format, output: None, fail_on, accept, stats: false, show };
        let mut settings = Settings::resolve(args, config, around);
        settings.setup.options.follow = true;
        settings
    }
}

impl Settings {
    /// Those of a check that was told nothing else, so that what it has kept is of use.
    pub fn for_explaining(args: ExplainArgs, config: Config, around: &Surroundings) -> Settings {
        let ExplainArgs { id: _, program, keep, format, color } = args;
        let format = match format {
            StoryFormat::Text => Format::Text,
            StoryFormat::Json => Format::Json,
        };
        let show =
            ShowArgs { all: false, notes: false, suppressed: false, dismissed: false, quiet: false, color };
        let (fail_on, accept) = (Some(FailOn::Never), AcceptArgs::default());
        let args = CheckArgs { program, keep, format, output: None, fail_on, accept, stats: false, show };
        Settings::resolve(args, config, around)
    }

    /// A list is worked out anew: what is kept has findings only.
    pub fn for_listing(args: ListArgs, config: Config, around: &Surroundings) -> Settings {
        let ListArgs { program, format } = args;
        let keep = KeepArgs { cache: None, no_cache: true };
        let id = String::new();
        let args = ExplainArgs { id, program, keep, format, color: Colour::Never };
        Settings::for_explaining(args, config, around)
    }

    /// Everything is told in full, however doubtful.
    pub fn with_all(mut self) -> Settings {
        self.least = Confidence::Low;
        self.setup.options.least = Confidence::Low;
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

fn configured(config: &Config) -> Option<Confidence> {
    match config.fail_on {
        None => Some(Confidence::Medium),
        Some(project::FailOn::Never) => None,
        Some(project::FailOn::From(level)) => Some(level),
    }
}

/// The arguments, or the file where they say nothing.
fn or<T: Clone>(arguments: Vec<T>, file: &[T]) -> Vec<T> {
    if arguments.is_empty() { file.to_vec() } else { arguments }
}

/// Who writes a baseline need not have one yet.
fn accept(args: AcceptArgs, config: &Config) -> AcceptArgs {
    let configured = config.baseline.clone().filter(|_| args.write_baseline.is_none());
    AcceptArgs { baseline: args.baseline.or(configured), ..args }
}

/// What fails a run is always shown.
fn least(all: bool, configured: Option<Confidence>, fail_on: Option<Confidence>) -> Confidence {
    let wanted = if all { Confidence::Low } else { configured.unwrap_or(Confidence::Medium) };
    fail_on.map_or(wanted, |fails| wanted.max(fails))
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
        Settings::resolve(args, Config::default(), around)
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
        assert_eq!(settings.setup.request.paths, [PathBuf::from(".")]);
        assert_eq!(settings.setup.options.threads, 0);
        assert_eq!((settings.least, settings.fail_on), (Confidence::Medium, Some(Confidence::Medium)));
    }

    #[test]
    fn class_paths_are_split_and_joined() {
        let separator = if cfg!(windows) { ";" } else { ":" };
        let list = ["a.jar", "", "lib/*"].join(separator);
        let settings = settings(&["-cp", &list, "--classpath", "b.jar"], &terminal());
        assert_eq!(settings.setup.request.classpath, ["a.jar", "lib/*", "b.jar"].map(PathBuf::from));
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
    fn arguments_win_over_the_file() {
        let config = || Config {
            main: vec!["a.Main".into()],
            exclude: vec!["x.".into()],
            least: Some(Confidence::High),
            fail_on: Some(project::FailOn::From(Confidence::High)),
            baseline: Some("known.json".into()),
            ..Config::default()
        };
        let with = |args: &[&str]| {
            let args = ["snarl", "check"].iter().chain(args).map(OsString::from);
            let Command::Check(args) = args::parse(args).command else { panic!("not check") };
            Settings::resolve(args, config(), &terminal())
        };
        let settings = with(&[]);
        assert_eq!(
            (settings.setup.options.mains.as_slice(), settings.least),
            (["a.Main".to_owned()].as_slice(), Confidence::High)
        );
        assert_eq!(
            (settings.fail_on, settings.setup.baseline),
            (Some(Confidence::High), Some("known.json".into()))
        );
        let settings = with(&["--main", "b.Main", "--fail-on", "medium", "--baseline", "mine.json"]);
        assert_eq!(
            (settings.setup.options.mains.as_slice(), settings.least),
            (["b.Main".to_owned()].as_slice(), Confidence::Medium)
        );
        assert_eq!(
            (settings.fail_on, settings.setup.baseline),
            (Some(Confidence::Medium), Some("mine.json".into()))
        );
        assert_eq!(settings.setup.options.exclude, ["x."]);
        assert_eq!(with(&["--write-baseline", "known.json"]).setup.baseline, None);
    }

    #[test]
    fn reports_are_kept_unless_told_otherwise_or_measured() {
        let keep = |args: &[&str]| settings(args, &terminal()).setup.keep;
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

    #[test]
    fn every_meaning_of_the_file_is_one_that_the_analysis_knows() {
        for word in project::MEANINGS {
            assert!(session::is_meaning(word), "{word}");
        }
        assert!(!session::is_meaning("thread-save"));
    }
}
