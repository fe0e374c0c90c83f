//! `snarl lsp`: the language server on standard input and output. Knows where the compiler process lies, and leaves the
//! conversation to the server.

use server::{Ended, Launching};
use std::path::PathBuf;
use std::process::ExitCode;

pub fn run() -> ExitCode {
    let launching = Launching { jars: jars(), cache: cache() };
    match server::run(std::io::stdin(), std::io::stdout(), launching) {
        Ended::Properly => ExitCode::SUCCESS,
        Ended::Abruptly => ExitCode::from(1),
    }
}

/// Beside the program as it is installed, or as it is built.
fn jars() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let Some(directory) = program.ok().and_then(|program| Some(program.parent()?.to_path_buf())) else {
        return Vec::new();
    };
    ["compiler", "../compiler", "../lib/snarl/compiler"].map(|place| directory.join(place)).to_vec()
}

/// The user's directory for what can be made again.
fn cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_user = || {
        if cfg!(windows) { named("LOCALAPPDATA") } else { named("HOME").map(|home| home.join(".cache")) }
    };
    named("XDG_CACHE_HOME").or_else(of_user).map(|directory| directory.join("snarl"))
}
