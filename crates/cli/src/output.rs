//! Where words go: the report to standard output or a file, complaints to standard error. Knows nothing of
//! what they say.

use anyhow::{Context, Result};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

pub fn to_file(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A reader that has seen enough (`snarl check | head`) is no error.
pub fn to_stdout(text: &str) -> Result<()> {
    stream(text).map(|_| ())
}

/// The same at once, with more to come; false when the reader has seen enough.
pub fn stream(text: &str) -> Result<bool> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).context("cannot write to standard output"),
    }
}

/// Says how the run went, beside the report.
pub fn remark(text: &str) {
    // Nobody is left to tell if this fails.
    let _ = writeln!(io::stderr(), "{text}");
}

pub fn complain(message: &str) {
    remark(&format!("error: {message}"));
}
