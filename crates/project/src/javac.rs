//! Runs the JDK's compiler over a set of sources into a temporary directory. Knows nothing of how the
//! sources were found.

use crate::Error;
use crate::plan::Unit;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compiles all units against `classpath` into directories below `scratch`; returns those directories. Errors
/// come back as the compiler prints them.
pub fn compile(
    javac: &Path,
    units: &[Unit],
    classpath: &[PathBuf],
    scratch: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let all: Vec<_> = units.iter().flat_map(|unit| unit.sources.iter().cloned()).collect();
    let together = Job { javac, sources: &all, classpath, sourcepath: &[], out: scratch.join("classes") };
    match together.run()? {
        Ok(()) => Ok(vec![together.out]),
        // Modules that are never on one class path may have classes of the same name.
        Err(output) if units.len() > 1 && output.contains("duplicate class") => {
            apart(javac, units, classpath, scratch)
        }
        Err(output) => Err(failed(output)),
    }
}

/// One unit at a time. What it needs of the others is compiled already, or looked up in their sources.
fn apart(javac: &Path, units: &[Unit], classpath: &[PathBuf], scratch: &Path) -> Result<Vec<PathBuf>, Error> {
    // A module description on the source path would turn the whole run into a modular one.
    let roots = units.iter().flat_map(|unit| unit.roots.iter().cloned());
    let sourcepath: Vec<_> = roots.filter(|root| !root.join("module-info.java").exists()).collect();
    let mut outs = Vec::new();
    for (i, unit) in units.iter().enumerate() {
        let classpath: Vec<_> = classpath.iter().chain(&outs).cloned().collect();
        let sourcepath: Vec<_> =
            unit.roots.iter().filter(|root| sourcepath.contains(root)).chain(&sourcepath).cloned().collect();
        let out = scratch.join(format!("classes{i}"));
        let job = Job {
            javac,
            sources: &unit.sources,
            classpath: &classpath,
            sourcepath: &sourcepath,
            out: out.clone(),
        };
        job.run()?.map_err(failed)?;
        outs.push(out);
    }
    Ok(outs)
}

fn failed(output: String) -> Error {
    let dependencies = output.contains("package") && output.contains("does not exist");
    let hint = dependencies.then(|| {
        "hint: packages are missing; pass the jars that have them with --classpath, or build the project and name its \
         classes (annotation processors are not run here)"
            .to_string()
    });
    Error::Compile { output, hint }
}

/// One run of the compiler.
struct Job<'a> {
    javac: &'a Path,
    sources: &'a [PathBuf],
    classpath: &'a [PathBuf],
    sourcepath: &'a [PathBuf],
    out: PathBuf,
}

impl Job<'_> {
    /// `Ok(Err(…))` is the compiler's output when it ran and refused.
    fn run(&self) -> Result<Result<(), String>, Error> {
        match self.run_with_encoding("UTF-8")? {
            // Old sources are often Latin-1, in which every byte means something.
            Err(output) if output.contains("unmappable character") => self.run_with_encoding("ISO-8859-1"),
            outcome => Ok(outcome),
        }
    }

    fn run_with_encoding(&self, encoding: &str) -> Result<Result<(), String>, Error> {
        let problem = |error: std::io::Error| Error::Compiler(self.javac.to_path_buf(), error.to_string());
        fs::create_dir_all(&self.out).map_err(problem)?;
        let arguments = self.out.with_extension("arguments");
        fs::write(&arguments, self.arguments(encoding).map_err(problem)?).map_err(problem)?;
        let mut at_arguments = OsString::from("@");
        at_arguments.push(&arguments);
        let output = Command::new(self.javac)
            .args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"])
            // What it prints is read here.
            .arg("-J-Duser.language=en")
            .arg(at_arguments)
            .env_remove("JDK_JAVAC_OPTIONS")
            .stdin(Stdio::null())
            .output()
            .map_err(problem)?;
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        Ok(if output.status.success() { Ok(()) } else { Err(text) })
    }

    /// An argument file: one quoted argument per line, backslashes doubled.
    fn arguments(&self, encoding: &str) -> std::io::Result<String> {
        let join = |paths: &[PathBuf]| {
            std::env::join_paths(paths)
                .map(|path| path.to_string_lossy().into_owned())
                .map_err(std::io::Error::other)
        };
        let (classpath, sourcepath) = (join(self.classpath)?, join(self.sourcepath)?);
        // An empty class path would mean the current directory.
        let or_nothing =
            |path: String| if path.is_empty() { self.out.to_string_lossy().into_owned() } else { path };
        let mut arguments: Vec<String> = [
            "-g",
            "-proc:none",
            "-nowarn",
            "-Xlint:none",
            "-implicit:none",
            "-encoding",
            encoding,
            "-classpath",
        ]
        .map(str::to_string)
        .to_vec();
        arguments.push(or_nothing(classpath));
        arguments.extend(["-sourcepath".to_string(), or_nothing(sourcepath), "-d".to_string()]);
        arguments.push(self.out.to_string_lossy().into_owned());
        // Everything is on the class path, where module descriptions only get in the way.
        let sources = self.sources.iter().filter(|source| !source.ends_with("module-info.java"));
        arguments.extend(sources.map(|source| source.to_string_lossy().into_owned()));
        let quote = |text: &String| format!("\"{}\"\n", text.replace('\\', "\\\\").replace('"', "\\\""));
        Ok(arguments.iter().map(quote).collect())
    }
}
