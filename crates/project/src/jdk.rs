//! Finds the JDK to use: the one asked for, the environment's, or one in the usual places. Knows nothing of
//! what is inside `lib/modules`.

use crate::Error;
use crate::notes::{Kind, Notes};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Jdk {
    pub home: PathBuf,
    /// 17 for `17.0.15`.
    pub feature: u32,
}

/// What the process knows about its surroundings; an argument, so that tests can choose it.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    pub java_home: Option<PathBuf>,
    /// Directories of `PATH`.
    pub path: Vec<PathBuf>,
    pub home: Option<PathBuf>,
    /// The current directory.
    pub here: PathBuf,
    /// Directories whose children are JDKs.
    pub shelves: Vec<PathBuf>,
}

impl Environment {
    pub fn current() -> Environment {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
        let mut shelves: Vec<PathBuf> = [
            "/usr/lib/jvm",
            "/usr/java",
            "/opt/java",
            "/opt",
            "/Library/Java/JavaVirtualMachines",
            "/opt/homebrew/opt",
            r"C:\Program Files\Java",
            r"C:\Program Files\Eclipse Adoptium",
        ]
        .map(PathBuf::from)
        .to_vec();
        if let Some(home) = &home {
            shelves
                .extend([".sdkman/candidates/java", ".jdks", ".jenv/versions"].map(|name| home.join(name)));
        }
        Environment {
            java_home: std::env::var_os("JAVA_HOME").filter(|value| !value.is_empty()).map(PathBuf::from),
            path: std::env::var_os("PATH")
                .map(|path| std::env::split_paths(&path).collect())
                .unwrap_or_default(),
            home,
            here: std::env::current_dir().unwrap_or_default(),
            shelves,
        }
    }
}

/// The JDK whose library is analysed with the program.
pub fn locate(wanted: Option<&Path>, environment: &Environment, notes: &Notes) -> Result<Jdk, Error> {
    if let Some(wanted) = wanted {
        return at(wanted).ok_or_else(|| Error::BadJdk(wanted.to_path_buf(), why_not(wanted)));
    }
    let places = candidates(environment);
    let looked = || places.iter().map(|place| place.display().to_string()).collect();
    let jdk = places.iter().find_map(|place| at(place)).ok_or_else(|| Error::NoJdk(looked()))?;
    if let Some(named) = environment.java_home.as_deref().filter(|named| at(named).is_none()) {
        let (named, why, used) = (named.display(), why_not(named), jdk.home.display());
        notes.add(Kind::BadJavaHome, format!("{named} ({why}; {used} is used)"));
    }
    Ok(jdk)
}

/// A compiler: the chosen JDK's, or another one's when that has none.
pub fn javac(jdk: &Jdk, environment: &Environment) -> Option<PathBuf> {
    let name = if cfg!(windows) { "javac.exe" } else { "javac" };
    let of = |home: &Path| Some(home.join("bin").join(name)).filter(|javac| javac.is_file());
    of(&jdk.home).or_else(|| {
        candidates(environment).iter().filter_map(|place| at(place)).find_map(|jdk| of(&jdk.home))
    })
}

fn candidates(environment: &Environment) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = environment.java_home.iter().cloned().collect();
    for name in ["javac", "java"] {
        let programs =
            environment.path.iter().map(|dir| dir.join(name).with_extension(std::env::consts::EXE_EXTENSION));
        // `/usr/bin/java` is a link, often over several steps, to `<home>/bin/java`.
        let real = programs.filter_map(|program| program.canonicalize().ok());
        places.extend(real.filter_map(|program| Some(program.parent()?.parent()?.to_path_buf())));
    }
    for shelf in &environment.shelves {
        let children = fs::read_dir(shelf).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut found: Vec<_> = children.filter(|child| at(child).is_some()).collect();
        // The newest first; among equals, by name.
        found.sort_by_cached_key(|home| (std::cmp::Reverse(at(home).map(|jdk| jdk.feature)), home.clone()));
        places.extend(found);
    }
    let mut seen = std::collections::BTreeSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places
}

fn at(place: &Path) -> Option<Jdk> {
    let homes =
        [place.to_path_buf(), place.join("Contents/Home"), place.join("libexec/openjdk.jdk/Contents/Home")];
    let home = homes.into_iter().find(|home| home.join("lib/modules").is_file())?;
    let feature = feature(&home).unwrap_or(17);
    Some(Jdk { home, feature })
}

/// The `release` file has a line `JAVA_VERSION="17.0.15"`.
fn feature(home: &Path) -> Option<u32> {
    let release = fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?.trim_matches('"');
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn why_not(place: &Path) -> String {
    if !place.exists() {
        "no such directory".to_string()
    } else if place.join("lib/rt.jar").is_file() || place.join("jre/lib/rt.jar").is_file() {
        "it is older than Java 9; programs compiled for older Java can be analysed with a newer JDK"
            .to_string()
    } else {
        "it has no lib/modules".to_string()
    }
}
