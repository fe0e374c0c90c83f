//! Why no class path could be made, in words for the person at the terminal. Knows nothing of exit codes.

use findings::Note;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Error {
    /// A path named by the user is not there.
    NotFound(PathBuf),
    /// A path named by the user cannot be read at all.
    Unreadable(PathBuf, String),
    /// A file that is neither a class file, nor an archive, nor Java source.
    NotRecognised(PathBuf),
    /// Everything named was readable, and nothing in it can be analysed.
    NothingToAnalyse { paths: Vec<PathBuf>, notes: Vec<Note> },
    /// No JDK was found; the places that were looked at.
    NoJdk(Vec<String>),
    /// The JDK in use cannot serve; why.
    BadJdk(PathBuf, String),
    /// javac rejected the sources; what it printed, and what to try.
    Compile { output: String, hint: Option<String> },
    /// javac could not be run.
    Compiler(PathBuf, String),
    /// What `git` said when it failed.
    Git(String),
    /// A command of the user failed, with what it printed.
    Build { command: String, output: String },
    /// Something in `snarl.toml` is wrong.
    Config { file: PathBuf, line: usize, column: usize, message: String },
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotFound(path) => write!(f, "{}: no such file or directory", path.display()),
            Error::Unreadable(path, why) => write!(f, "{}: cannot be read: {why}", path.display()),
            Error::NotRecognised(path) => write!(
                f,
                "{}: not a jar, a class file or Java source; name a jar, a directory of classes, a source tree \
                 or a Maven or Gradle project",
                path.display()
            ),
            Error::NothingToAnalyse { paths, notes } => {
                let names: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
                write!(f, "{}: nothing to analyse", names.join(", "))?;
                notes.iter().try_for_each(|note| write!(f, "\n{}", note.message))
            }
            Error::NoJdk(looked) => {
                write!(f, "no JDK found; install one (17 or newer), set JAVA_HOME or pass --jdk DIR")?;
                if !looked.is_empty() {
                    write!(f, "\nlooked at: {}", looked.join(", "))?;
                }
                Ok(())
            }
            Error::BadJdk(home, why) => write!(f, "{}: not a usable JDK: {why}", home.display()),
            Error::Compile { output, hint } => {
                write!(f, "the sources do not compile:\n{}", output.trim_end())?;
                if let Some(hint) = hint {
                    write!(f, "\n{hint}")?;
                }
                Ok(())
            }
            Error::Git(why) => write!(f, "git: {why}"),
            Error::Build { command, output } => write!(f, "`{command}` failed:\n{output}"),
            Error::Config { file, line, column, message } => {
                write!(f, "{}:{line}:{column}: {message}", file.display())
            }
            Error::Compiler(javac, why) => write!(f, "{}: cannot run the compiler: {why}", javac.display()),
        }
    }
}
