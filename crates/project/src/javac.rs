//! Runs the JDK's compiler over a set of sources into a temporary directory. Knows nothing of how the
//! sources were found.

use crate::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compiles `sources` against `classpath` into `out`; errors come back as the compiler prints them.
pub fn compile(javac: &Path, sources: &[PathBuf], classpath: &[PathBuf], out: &Path) -> Result<(), Error> {
    match run(javac, sources, classpath, out, "UTF-8")? {
        // Old sources are often Latin-1, in which every byte means something.
        Err(output) if output.contains("unmappable character") => {
            run(javac, sources, classpath, out, "ISO-8859-1")?.map_err(failed)
        }
        outcome => outcome.map_err(failed),
    }
}

fn failed(output: String) -> Error {
    let dependencies = output.contains("package") && output.contains("does not exist");
    let hint = dependencies.then(|| {
        "hint: classes are missing on the class path; build the project once, or pass its jars with --classpath"
            .to_string()
    });
    Error::Compile { output, hint }
}

/// `Ok(Err(…))` is the compiler's output when it ran and refused.
fn run(
    javac: &Path,
    sources: &[PathBuf],
    classpath: &[PathBuf],
    out: &Path,
    encoding: &str,
) -> Result<Result<(), String>, Error> {
    let problem = |error: std::io::Error| Error::Compiler(javac.to_path_buf(), error.to_string());
    let path = std::env::join_paths(classpath).map_err(|error| problem(std::io::Error::other(error)))?;
    let files = out.with_extension("sources");
    fs::write(&files, arguments(sources, &path)).map_err(problem)?;
    let mut at_files = OsString::from("@");
    at_files.push(&files);
    let output = Command::new(javac)
        .args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"])
        .args(["-g", "-proc:none", "-nowarn", "-Xlint:none", "-encoding", encoding, "-d"])
        .arg(out)
        .arg(at_files)
        .env_remove("JDK_JAVAC_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .map_err(problem)?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Ok(if output.status.success() { Ok(()) } else { Err(text) })
}

/// An argument file: one quoted argument per line, backslashes doubled.
fn arguments(sources: &[PathBuf], classpath: &OsString) -> String {
    let quote = |text: &str| format!("\"{}\"\n", text.replace('\\', "\\\\").replace('"', "\\\""));
    // An empty class path would mean the current directory.
    let classpath = if classpath.is_empty() { OsString::from(" ") } else { classpath.clone() };
    let mut lines = quote("-classpath") + &quote(&classpath.to_string_lossy());
    for source in sources {
        lines += &quote(&source.to_string_lossy());
    }
    lines
}
