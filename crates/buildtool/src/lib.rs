//! Asks the build tool of a project for the class paths of its modules: finds Maven or Gradle, has it write them down
//! without building or downloading anything, and hands on what it wrote. Knows nothing of what is done with it.

mod program;
mod running;

pub use program::Tool;
pub use running::Failure;

use running::Run;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What every project of a Gradle build writes down.
const GRADLE: &str = include_str!("class-paths.gradle");
/// The extension with which Maven does the same, beside the jars of the compiler process.
pub const MAVEN_JAR: &str = "snarl-maven.jar";

impl Tool {
    /// What it says of the project in `root`, as `project::Build::keep` takes it. `jars` is the directory with
    /// [`MAVEN_JAR`]; `java` is the JDK for a tool that would find none. Given up once `is_over`.
    pub fn ask(
        &self,
        root: &Path,
        jars: &Path,
        java: Option<&Path>,
        is_over: &AtomicBool,
    ) -> Result<String, Failure> {
        let scratch = tempfile::tempdir()?;
        // Tools run in the directory of the project.
        let (root, scratch) = (root.canonicalize()?, scratch.path().canonicalize()?);
        let run = Run { program: self.program(), root: &root, java, is_over };
        match self {
            Tool::Maven(_) => {
                let extension = jars.join(MAVEN_JAR).canonicalize()?;
                let answer = scratch.join("answer");
                let arguments = [
                    "--offline".into(),
                    "--batch-mode".into(),
                    "--quiet".into(),
                    "-Dstyle.color=never".into(),
                    running::define("maven.ext.class.path", &extension),
                    running::define("snarl.answer", &answer),
                    // A phase has to be named; it is not come to.
                    "validate".into(),
                ];
                let said = run.output(&arguments, &scratch)?;
                // It fails in any case, because nothing is to be built.
                fs::read_to_string(&answer).map_err(|_| Failure::refused(self, &said.text))
            }
            Tool::Gradle(_) => {
                let (script, answers) = (scratch.join("class-paths.gradle"), scratch.join("answers"));
                fs::write(&script, GRADLE)?;
                fs::create_dir(&answers)?;
                let arguments = [
                    "--offline".into(),
                    "--quiet".into(),
                    "--no-daemon".into(),
                    "--continue".into(),
                    "--init-script".into(),
                    script.into(),
                    "--project-cache-dir".into(),
                    scratch.join("cache").into(),
                    running::define("snarl.answer", &answers),
                    // The projects write down what is known only while they are at hand.
                    "-Dorg.gradle.configuration-cache=false".into(),
                    "-Dorg.gradle.configureondemand=false".into(),
                    "snarlClassPath".into(),
                ];
                let said = run.output(&arguments, &scratch)?;
                let mut files: Vec<_> = fs::read_dir(&answers)?.flatten().map(|entry| entry.path()).collect();
                files.sort();
                if files.is_empty() && !said.is_success {
                    return Err(Failure::refused(self, &said.text));
                }
                let modules = files.iter().map(fs::read_to_string).collect::<Result<String, _>>()?;
                Ok(modules + "end\n")
            }
        }
    }
}
