//! Opens projects as an editor does, with the compiler that `./dev` builds.

use compiler::{Compiler, Launch, Patience};
use live::{Live, LiveSource};
use project::{Request, Watched};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// Built once.
fn jars() -> &'static Path {
    static JARS: OnceLock<PathBuf> = OnceLock::new();
    JARS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let built = Command::new("python3").arg(root.join("compiler/build")).status();
        assert!(built.expect("python3 runs").success(), "compiler/build fails");
        root.join("target/compiler")
    })
}

pub fn open(directory: &Path) -> (Live, Arc<LiveSource>) {
    let request = Request { paths: vec![directory.to_path_buf()], ..Request::default() };
    let watched = Watched::open_for_editing(&request).expect("a project");
    let java = watched.project().jdk().home.join("bin/java");
    let compiler = Compiler::new(Launch::new(java, jars()), Patience::default());
    let mut live = Live::new(compiler, watched.project().clone(), watched.modules().to_vec());
    let followed = live.follow(Vec::new());
    assert!(followed.failure.is_none(), "{:?}", followed.failure);
    (live, followed.source)
}
