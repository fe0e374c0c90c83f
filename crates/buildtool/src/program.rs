//! Which program builds a project: the one that its wrapper has downloaded, or the one on the path. Wrappers themselves
//! are not run, because they download.

use project::Environment;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep below its name the program of a downloaded distribution lies.
const MAX_DEPTH: usize = 3;

/// The tool of a project, by its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    Maven(PathBuf),
    Gradle(PathBuf),
}

impl Tool {
    /// Nothing if there is none on this machine.
    pub fn of(root: &Path, environment: &Environment) -> Option<Tool> {
        let home = |within: &str| environment.home.as_ref().map(|home| home.join(within));
        if root.join("pom.xml").is_file() {
            let wrapper = root.join(".mvn/wrapper/maven-wrapper.properties");
            let downloaded = home(".m2/wrapper/dists").and_then(|all| distribution(&wrapper, &all, "mvn"));
            downloaded.or_else(|| on_path("mvn", environment)).map(Tool::Maven)
        } else {
            let wrapper = root.join("gradle/wrapper/gradle-wrapper.properties");
            let downloaded =
                home(".gradle/wrapper/dists").and_then(|all| distribution(&wrapper, &all, "gradle"));
            downloaded.or_else(|| on_path("gradle", environment)).map(Tool::Gradle)
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Tool::Maven(_) => "Maven",
            Tool::Gradle(_) => "Gradle",
        }
    }

    pub fn program(&self) -> &Path {
        match self {
            Tool::Maven(program) | Tool::Gradle(program) => program,
        }
    }
}

/// The program of the distribution that a wrapper names, if it has been downloaded.
fn distribution(wrapper: &Path, all: &Path, name: &str) -> Option<PathBuf> {
    let properties = fs::read_to_string(wrapper).ok()?;
    let url = properties.lines().find_map(|line| line.trim().strip_prefix("distributionUrl"))?;
    let archive = url.rsplit('/').next()?.trim();
    let archive = archive.strip_suffix(".zip").or_else(|| archive.strip_suffix(".tar.gz"))?;
    // One kind of wrapper keeps it under the name of the archive, another one without the end of it.
    let short = archive.strip_suffix("-bin").unwrap_or(archive);
    [archive, short].into_iter().find_map(|directory| program_below(&all.join(directory), name, 0))
}

fn program_below(directory: &Path, name: &str, depth: usize) -> Option<PathBuf> {
    let program = names(name).into_iter().map(|name| directory.join("bin").join(name));
    program.into_iter().find(|program| program.is_file()).or_else(|| {
        let children = fs::read_dir(directory).ok().filter(|_| depth < MAX_DEPTH)?;
        let mut children: Vec<_> = children.flatten().map(|entry| entry.path()).collect();
        children.sort();
        children.iter().find_map(|child| program_below(child, name, depth + 1))
    })
}

fn on_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    let programs = environment.path.iter().flat_map(|dir| names(name).map(|name| dir.join(name)));
    programs.into_iter().find(|program| is_executable(program))
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(program)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}

/// As the system starts it.
fn names(name: &str) -> [String; 2] {
    if cfg!(windows) {
        [format!("{name}.cmd"), format!("{name}.bat")]
    } else {
        [name.to_string(), format!("{name}.sh")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(files: &[(&str, &str)]) -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let file = place.path().join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
            fs::write(&file, text).expect("a file");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("allowed");
            }
        }
        place
    }

    fn tool(place: &tempfile::TempDir) -> Option<String> {
        let at = |name: &str| place.path().join(name);
        let environment =
            Environment { home: Some(at("home")), path: vec![at("bin")], ..Environment::default() };
        let tool = Tool::of(&at("app"), &environment)?;
        let program = tool.program().strip_prefix(place.path()).expect("in the place");
        Some(format!("{} {}", tool.name(), program.display()))
    }

    #[cfg(unix)]
    #[test]
    fn the_one_on_the_path_is_taken_unless_a_wrapper_has_downloaded_another() {
        let wrapper = "app/.mvn/wrapper/maven-wrapper.properties";
        let url = "distributionUrl=https://x/apache-maven-3.9.9-bin.zip\n";
        let dists = "home/.m2/wrapper/dists";
        let mut files = vec![("app/pom.xml", ""), ("bin/mvn", ""), (wrapper, url)];
        assert_eq!(tool(&place(&files)).as_deref(), Some("Maven bin/mvn"));
        let old = format!("{dists}/apache-maven-3.9.9-bin/4d5/apache-maven-3.9.9/bin/mvn");
        files.push((&old, ""));
        assert_eq!(tool(&place(&files)), Some(format!("Maven {old}")));
        files.pop();
        let new = format!("{dists}/apache-maven-3.9.9/4d5/bin/mvn");
        files.push((&new, ""));
        assert_eq!(tool(&place(&files)), Some(format!("Maven {new}")));
        files.retain(|(name, _)| *name != wrapper);
        assert_eq!(tool(&place(&files)).as_deref(), Some("Maven bin/mvn"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_there_is_none() {
        assert_eq!(tool(&place(&[("app/pom.xml", ""), ("bin/gradle", "")])), None);
        assert_eq!(tool(&place(&[("app/build.gradle", ""), ("bin/mvn", "")])), None);
        let wrapper = "app/gradle/wrapper/gradle-wrapper.properties";
        let files = [("app/build.gradle", ""), (wrapper, "distributionUrl = no zip")];
        assert_eq!(tool(&place(&files)), None);
    }
}
