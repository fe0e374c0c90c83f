//! Makes programs to check, runs the binary on them, and does not wait for it longer than a person would.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// No program here is large; whoever takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Class files by their path below the class path, `app/Main.class`.
pub type Classes = BTreeMap<String, Vec<u8>>;

/// A directory that is gone after the test.
pub struct Place(TempDir);

pub fn place() -> Place {
    Place(tempfile::tempdir().expect("a directory"))
}

impl Place {
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    }

    pub fn write_all(&self, directory: &str, classes: &Classes) {
        for (path, bytes) in classes {
            self.write(&format!("{directory}/{path}"), bytes);
        }
    }

    /// `snarl check` with these arguments, in this directory.
    pub fn check(&self, args: &[&str]) -> Run {
        run(self.snarl("check", args))
    }

    pub fn snarl(&self, subcommand: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_snarl"));
        command.arg(subcommand).args(args).current_dir(self.path()).stdin(Stdio::null());
        // A user's own repository and settings play no part.
        command.env("HOME", self.path()).env_remove("RUST_BACKTRACE").env_remove("GRADLE_USER_HOME");
        command
    }

    /// The same, with the report as JSON.
    pub fn json(&self, args: &[&str]) -> (Run, Value) {
        let run = self.check(&[args, &["--format", "json"]].concat());
        let json = serde_json::from_str(&run.stdout).unwrap_or(Value::Null);
        (run, json)
    }
}

#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

pub fn run(mut command: Command) -> Run {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("snarl runs");
    let (mut out, mut err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let errors = thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).map(|_| text)
        });
        let mut text = String::new();
        let stdout = out.read_to_string(&mut text).map(|_| text);
        let stderr = errors.join().expect("the reader of standard error");
        // Nobody listens any more if this took too long.
        let _ = sender.send((stdout.expect("UTF-8"), stderr.expect("UTF-8")));
    });
    let Ok((stdout, stderr)) = receiver.recv_timeout(PATIENCE) else {
        let _ = child.kill();
        panic!("snarl did not end within {PATIENCE:?}");
    };
    let code = child.wait().expect("snarl ends").code().expect("an exit code");
    assert!(!stderr.contains("internal error"), "{stderr}");
    Run { code, stdout, stderr }
}

/// Compiles Java sources, each with its path.
pub fn javac(sources: &[(&str, &str)]) -> Classes {
    let place = place();
    let out = place.path().join("out");
    let mut command = Command::new(javac_path());
    command.arg("-g").arg("-d").arg(&out);
    for (name, source) in sources {
        place.write(name, source);
        command.arg(place.path().join(name));
    }
    let output = command.output().expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut classes = Classes::new();
    collect(&out, &out, &mut classes);
    classes
}

fn javac_path() -> PathBuf {
    match std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Path::new(&home).join("bin/javac"),
        None => PathBuf::from("javac"),
    }
}

fn collect(root: &Path, directory: &Path, classes: &mut Classes) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, classes);
        } else {
            let name = path.strip_prefix(root).expect("a path below").to_string_lossy().replace('\\', "/");
            classes.insert(name, fs::read(&path).expect("a class file"));
        }
    }
}

/// An archive with these entries, in this order.
pub fn jar<'a>(entries: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(name, SimpleFileOptions::default()).expect("an entry");
        zip.write_all(bytes).expect("its bytes");
    }
    zip.finish().expect("an archive").into_inner()
}

pub fn jar_of(classes: &Classes) -> Vec<u8> {
    jar(classes.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
}

/// Ids of all findings, sorted.
pub fn ids(json: &Value) -> Vec<String> {
    let mut ids = strings(json, "findings", "id");
    ids.sort();
    ids
}

/// Kinds of all notes.
pub fn kinds(json: &Value) -> Vec<String> {
    strings(json, "notes", "kind")
}

pub fn strings(json: &Value, list: &str, key: &str) -> Vec<String> {
    let items = json[list].as_array().into_iter().flatten();
    items.filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
}
