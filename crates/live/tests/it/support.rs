//! Opens projects as an editor does, with the compiler that `./dev` builds.

use compiler::{Compiler, Launch, Patience};
use live::{Live, LiveSource};
use project::{Request, Watched};
use std::fs;
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

/// Texts by where they lie.
pub fn write(directory: &Path, texts: &[(String, String)]) {
    for (name, text) in texts {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(directory)).expect("a directory");
        fs::write(path, text).expect("written");
    }
}

/// A project as Maven leaves it.
pub fn build(project: &Path, texts: &[(String, String)]) {
    let sources = project.join("src/main/java");
    write(&sources, texts);
    let pom = "<project><modelVersion>4.0.0</modelVersion><groupId>p</groupId><artifactId>p</artifactId>\
               <version>1</version></project>";
    fs::write(project.join("pom.xml"), pom).expect("written");
    let mut javac = Command::new("javac");
    javac
        .arg("-d")
        .arg(project.join("target/classes"))
        .args(texts.iter().map(|(name, _)| sources.join(name)));
    assert!(javac.status().expect("javac runs").success());
}
