//! Which classes of an archive are those of dependencies that were put into it (shaded, repackaged). Goes by names
//! alone: what Maven leaves in an archive of every artifact in it, and what packages of moved classes are called.

use crate::archive::Archive;

/// Packages into which build tools move the classes of dependencies.
const MOVED: [&str; 6] = ["shaded", "shade", "repackaged", "relocated", "thirdparty", "third_party"];

pub struct Bundled {
    /// Packages of other artifacts, as in `com/google/`.
    packages: Vec<String>,
    own: String,
}

impl Bundled {
    /// Given the class at which the archive begins: its artifact is the user's own. Without it nobody knows which is.
    pub fn of(archive: &Archive, main_class: Option<&str>) -> Bundled {
        let mut groups: Vec<String> = Vec::new();
        for entry in &archive.entries {
            let Some(group) = group_of(&entry.name) else { continue };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let main = main_class.map(|name| name.replace('.', "/")).unwrap_or_default();
        let begins =
            groups.iter().filter(|group| main.starts_with(group.as_str())).max_by_key(|group| group.len());
        let Some(own) = begins.cloned() else {
            return Bundled { packages: Vec::new(), own: String::new() };
        };
        let others =
            groups.iter().filter(|&group| !own.starts_with(group.as_str()) && !group.starts_with(&own));
        // Groups are often longer than packages: `com.google.guava` has `com.google.common`.
        let packages = others.map(|group| match is_related(group, &own) {
            true => group.clone(),
            false => beginning(group).to_string(),
        });
        let packages = packages.filter(|package| !main.starts_with(package.as_str())).collect();
        Bundled { packages, own }
    }

    pub fn has(&self, class: &str) -> bool {
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let is_others = self.packages.iter().any(|package| class.starts_with(package.as_str()))
            && !class.starts_with(&self.own);
        is_others || package.split('/').any(|part| MOVED.contains(&part))
    }
}

/// `META-INF/maven/com.acme/app/pom.properties` as `com/acme/`; none if it is one word, which says nothing about packages.
fn group_of(entry: &str) -> Option<String> {
    let rest = entry.strip_prefix("META-INF/maven/")?;
    let mut parts = rest.split('/');
    let (group, _, file) = (parts.next()?, parts.next()?, parts.next()?);
    let is_artifact = matches!(file, "pom.properties" | "pom.xml") && group.contains('.');
    is_artifact.then(|| format!("{}/", group.replace('.', "/")))
}

/// The first two words.
fn beginning(group: &str) -> &str {
    let end = group.match_indices('/').nth(1).map_or(group.len(), |(at, _)| at + 1);
    &group[..end]
}

fn is_related(group: &str, own: &str) -> bool {
    beginning(group) == beginning(own)
}
