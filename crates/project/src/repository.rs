//! Jars and poms that earlier builds left on this machine, by coordinates: Maven's local repository and
//! Gradle's cache. Downloads nothing.

use crate::jdk::Environment;
use crate::pom::Coordinates;
use crate::walk::children;
use std::cmp::Ordering;
use std::fs;
use std::path::PathBuf;

#[derive(Debug, Clone, Default)]
pub struct Repository {
    maven: Option<PathBuf>,
    gradle: Option<PathBuf>,
}

impl Repository {
    pub fn of(environment: &Environment) -> Repository {
        let Some(home) = &environment.home else { return Repository::default() };
        let settings = fs::read_to_string(home.join(".m2/settings.xml")).unwrap_or_default();
        let moved = settings.split_once("<localRepository>").and_then(|(_, rest)| rest.split_once("</"));
        let moved = moved
            .map(|(path, _)| PathBuf::from(path.trim().replace("${user.home}", &home.to_string_lossy())));
        Repository {
            maven: Some(moved.unwrap_or_else(|| home.join(".m2/repository"))).filter(|path| path.is_dir()),
            gradle: Some(home.join(".gradle/caches/modules-2/files-2.1")).filter(|path| path.is_dir()),
        }
    }

    /// The file `artifact-version[-classifier].extension`.
    pub fn file(&self, coordinates: &Coordinates, classifier: &str, extension: &str) -> Option<PathBuf> {
        let Coordinates { group, artifact, version } = coordinates;
        // Coordinates come from files of the project: they must not lead out of the repository.
        if [group, artifact, version]
            .iter()
            .any(|part| part.is_empty() || part.contains("..") || part.contains('/'))
        {
            return None;
        }
        let dash = if classifier.is_empty() { "" } else { "-" };
        let name = format!("{artifact}-{version}{dash}{classifier}.{extension}");
        let in_maven = self
            .maven
            .iter()
            .map(|root| root.join(group.replace('.', "/")).join(artifact).join(version).join(&name));
        let in_gradle = self.gradle.iter().flat_map(|root| {
            children(&root.join(group).join(artifact).join(version)).into_iter().map(|hash| hash.join(&name))
        });
        in_maven.chain(in_gradle).find(|file| file.is_file())
    }

    /// The newest version that is here, for a dependency whose version cannot be known.
    pub fn newest(&self, group: &str, artifact: &str) -> Option<String> {
        let in_maven = self.maven.iter().map(|root| root.join(group.replace('.', "/")).join(artifact));
        let in_gradle = self.gradle.iter().map(|root| root.join(group).join(artifact));
        let versions = in_maven.chain(in_gradle).flat_map(|directory| children(&directory));
        let names = versions
            .filter(|path| path.is_dir())
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_string()));
        names.max_by(|a, b| compare_versions(a, b))
    }
}

/// Number by number, and a release after its previews (`1.0` after `1.0-rc1`).
fn compare_versions(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| -> Vec<Result<u64, String>> {
        version.split(['.', '-']).map(|part| part.parse().map_err(|_| part.to_string())).collect()
    };
    let (a, b) = (parts(a), parts(b));
    for i in 0..a.len().max(b.len()) {
        let order = match (a.get(i), b.get(i)) {
            (Some(Ok(x)), Some(Ok(y))) => x.cmp(y),
            (Some(Err(x)), Some(Err(y))) => x.cmp(y),
            (Some(Ok(_)), _) => Ordering::Greater,
            (_, Some(Ok(_))) => Ordering::Less,
            (Some(Err(_)), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::compare_versions;
    use std::cmp::Ordering::Less;

    #[test]
    fn versions_are_compared_as_numbers_and_previews_come_first() {
        for (older, newer) in
            [("1.9", "1.10"), ("1.0-rc1", "1.0"), ("2.0", "2.0.1"), ("1.0-alpha", "1.0-beta")]
        {
            assert_eq!(compare_versions(older, newer), Less, "{older} {newer}");
        }
    }
}
