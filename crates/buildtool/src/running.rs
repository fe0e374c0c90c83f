//! Runs a build tool and waits for its end, but not for ever. Knows nothing of what it is run for.

use crate::Tool;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::ffi::OsString;
use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Large builds take a minute until they have read themselves.
const PATIENCE: Duration = Duration::from_secs(300);
const OFTEN: Duration = Duration::from_millis(50);
/// Of what a tool complains about, so many characters are told.
const SHOWN: usize = 300;

/// Why there is no answer.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// With the first thing that the tool complains about.
    pub(crate) fn refused(tool: &Tool, output: &str) -> Failure {
        let mut lines = output.lines().map(plain);
        let complaint = lines.find(|line| is_complaint(line)).unwrap_or_else(|| "no answer".to_string());
        let complaint: String = complaint.chars().take(SHOWN).collect();
        Failure(format!("{} cannot tell the class paths: {complaint}", tool.name()))
    }
}

/// A line without colours, signs of nothing, and the word that it is an error.
fn plain(line: &str) -> String {
    let mut rest = line;
    let mut words = String::new();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        words.push_str(before);
        rest = after.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).get(1..).unwrap_or_default();
    }
    words.push_str(rest);
    words.retain(|c| !c.is_control() && c != char::REPLACEMENT_CHARACTER);
    let mut words = words.trim();
    while let Some(rest) = words.strip_prefix("[ERROR]").or_else(|| words.strip_prefix("[FATAL]")) {
        words = rest.trim();
    }
    words.to_string()
}

/// Gradle puts `* What went wrong:` in front of it, and Maven how many problems there are.
fn is_complaint(line: &str) -> bool {
    const OTHERS: [&str; 11] = [
        "FAILURE:",
        "* ",
        "openjdk version",
        "OpenJDK ",
        "java version",
        "Java(TM)",
        "WARNING:",
        "[WARNING]",
        "Picked up ",
        "Some problems were encountered",
        "The build could not read",
    ];
    line.chars().any(char::is_alphanumeric) && !OTHERS.iter().any(|head| line.starts_with(head))
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure(error.to_string())
    }
}

/// `-Dname=value`.
pub fn define(name: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(format!("-D{name}="));
    argument.push(value);
    argument
}

pub struct Run<'a> {
    pub program: &'a Path,
    pub root: &'a Path,
    pub java: Option<&'a Path>,
    pub is_over: &'a AtomicBool,
}

pub struct Said {
    pub is_success: bool,
    pub text: String,
}

impl Run<'_> {
    pub fn output(&self, arguments: &[OsString], scratch: &Path) -> Result<Said, Failure> {
        // A file, so that nobody has to read while it is written.
        let output = scratch.join("output");
        let file = File::create(&output)?;
        let mut command = Command::new(self.program);
        command.args(arguments).current_dir(self.root).stdin(Stdio::null());
        command.stdout(file.try_clone()?).stderr(file);
        command.envs(self.java.map(|java| ("JAVA_HOME", java)));
        let mut locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(std::env::var_os);
        if locale.find(|name| !name.is_empty()).is_none_or(|name| name == "C" || name == "POSIX") {
            // With none, a JVM would not find files whose names go beyond ASCII.
            command.env("LC_ALL", "C.UTF-8");
        }
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        command.wrap(process_wrap::std::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::std::JobObject);
        let unable = |error: io::Error| Failure(format!("{} cannot be run: {error}", self.program.display()));
        let mut child = command.spawn().map_err(unable)?;
        let is_success = self.wait(&mut *child)?;
        let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
        Ok(Said { is_success, text })
    }

    fn wait(&self, child: &mut dyn ChildWrapper) -> Result<bool, Failure> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.success());
            }
            if self.is_over.load(Ordering::Relaxed) || Instant::now() >= until {
                let _ = child.kill();
                return Err(Failure(format!("{} was given up", self.program.display())));
            }
            thread::sleep(OFTEN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_complaint_is_told_and_not_what_stands_around_it() {
        let (maven, gradle) = (Tool::Maven(PathBuf::new()), Tool::Gradle(PathBuf::new()));
        for (tool, output, told) in [
            (
                &maven,
                "\u{1b}[0m\u{1b}[0m[\u{1b}[1;31mERROR\u{1b}[m] [ERROR] Some problems were encountered while\n\
                 [FATAL] 'version' is missing. @ line 1",
                "'version' is missing. @ line 1",
            ),
            (&maven, "[WARNING] old\n[ERROR] \n[ERROR] Non-readable POM", "Non-readable POM"),
            (
                &gradle,
                "openjdk version \"17\"\n\nFAILURE: Build failed.\n\n* Where:\nBuild file 'b' line: 1",
                "Build file 'b' line: 1",
            ),
            (&gradle, "", "no answer"),
        ] {
            let failure = Failure::refused(tool, output).to_string();
            assert_eq!(failure, format!("{} cannot tell the class paths: {told}", tool.name()));
        }
    }
}
