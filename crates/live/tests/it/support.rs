//! Opens projects as an editor does, with the compiler that `./dev` builds.

use classfile::ClassSource;
use compiler::{Compiler, Launch, Patience};
use fixture::jars;
use live::{Event, Files, Live, LiveSource};
use project::{Project, Request, Watched};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

pub fn open(directory: &Path) -> (Live, Arc<LiveSource>) {
    let watched = watched(directory);
    let java = watched.project().jdk().home.join("bin/java");
    let compiler = Compiler::new(Launch::new(java, jars()), Patience::default());
    let mut live = Live::new(compiler, watched.project().clone(), watched.modules().to_vec());
    let followed = live.follow(Vec::new());
    assert!(followed.failure.is_none(), "{:?}", followed.failure);
    (live, followed.source)
}

/// The files as they are now, where they were a project before.
pub fn files(directory: &Path, before: &Project) -> Event {
    let watched = watched(directory);
    let project = watched.project().clone();
    let mut classes = [before.app_classes(), project.app_classes()].concat();
    classes.sort();
    classes.dedup();
    classes.retain(|name| before.find(name) != project.find(name));
    Event::Files(Files { project, modules: watched.modules().to_vec(), classes, resources: false })
}

fn watched(directory: &Path) -> Watched {
    let request = Request { paths: vec![directory.to_path_buf()], ..Request::default() };
    Watched::open_for_editing(&request).expect("a project")
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
    write_pom(project, "");
    let mut javac = Command::new("javac");
    javac
        .arg("-d")
        .arg(project.join("target/classes"))
        .args(texts.iter().map(|(name, _)| sources.join(name)));
    assert!(javac.status().expect("javac runs").success());
}

/// A project of these modules, each of which is built by itself.
pub fn group(project: &Path, modules: &[&str]) {
    let modules: String = modules.iter().map(|name| format!("<module>{name}</module>")).collect();
    write_pom(project, &format!("<packaging>pom</packaging><modules>{modules}</modules>"));
}

fn write_pom(directory: &Path, more: &str) {
    let pom = format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>p</groupId><artifactId>p</artifactId>\
         <version>1</version>{more}</project>"
    );
    fs::write(directory.join("pom.xml"), pom).expect("written");
}
