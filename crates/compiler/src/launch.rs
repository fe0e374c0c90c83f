//! How the process is started: which java, where its jars are, and the archive that makes it start quickly.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

const MAIN: &str = "snarl.compiler.Main";
const JARS: [&str; 2] = ["snarl-compiler.jar", "ecj.jar"];
const ARGUMENTS: &str = "jvm.args";
const ARCHIVE: &str = "snarl-compiler.jsa";

#[derive(Debug, Clone)]
pub struct Launch {
    java: PathBuf,
    /// What `compiler/build` has made.
    jars: PathBuf,
    archive: Option<PathBuf>,
    javac: bool,
}

impl Launch {
    /// With this java, from the directory that `compiler/build` has filled.
    pub fn new(java: impl Into<PathBuf>, jars: impl Into<PathBuf>) -> Launch {
        Launch { java: java.into(), jars: jars.into(), archive: None, javac: false }
    }

    /// With the compiler of the java that runs it.
    pub fn with_javac(self) -> Launch {
        Launch { javac: true, ..self }
    }

    /// With an archive of its classes in this directory, which is made if it is not there; that takes a second or two.
    /// One that does not fit is ignored by java.
    pub fn with_archive(self, directory: &Path) -> io::Result<Launch> {
        let archive = directory.join(ARCHIVE);
        if !archive.is_file() {
            // Under its name there is always a whole one, also where two make it at once.
            let unfinished = directory.join(format!("{}-{ARCHIVE}", std::process::id()));
            let mut command = Command::new(&self.java);
            command.arg(option("-XX:ArchiveClassesAtExit=", &unfinished));
            self.add_program(&mut command).arg("--train");
            let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
            let made = ended.and_then(|status| match status.success() {
                true => fs::rename(&unfinished, &archive),
                false => Err(io::Error::other(format!("java ended with {status}"))),
            });
            if let Err(error) = made {
                let _ = fs::remove_file(&unfinished);
                return Err(error);
            }
        }
        Ok(Launch { archive: Some(archive), ..self })
    }

    /// Whether an archive is in this directory, fit or not.
    pub fn has_archive(directory: &Path) -> bool {
        directory.join(ARCHIVE).is_file()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.java);
        command.args(self.archive.iter().map(|archive| option("-XX:SharedArchiveFile=", archive)));
        self.add_program(&mut command).args(self.javac.then_some("--javac"));
        command
    }

    /// What is missing of that which has to be there.
    pub(crate) fn missing(&self) -> Option<PathBuf> {
        JARS.iter().chain([&ARGUMENTS]).map(|name| self.jars.join(name)).find(|path| !path.is_file())
    }

    fn add_program<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let jars = JARS.map(|jar| self.jars.join(jar));
        let class_path = std::env::join_paths(jars).unwrap_or_default();
        command.arg(option("@", &self.jars.join(ARGUMENTS))).arg("-cp").arg(class_path).arg(MAIN)
    }
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(path);
    option
}
