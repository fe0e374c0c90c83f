//! What a Maven project's poms mean together: inherited properties and versions, and the jars of its
//! dependencies as far as they are on this machine. Best effort; what is not found is said.

use crate::pom::{Coordinates, Dependency, Parent, Pom};
use crate::repository::Repository;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

const MAX_PARENTS: usize = 20;
const MAX_DEPENDENCIES: usize = 2_000;

/// A pom with everything its parents say.
#[derive(Debug, Clone, Default)]
pub struct Effective {
    pub coordinates: Coordinates,
    pub dependencies: Vec<Dependency>,
    managed: BTreeMap<(String, String, String), Dependency>,
    properties: BTreeMap<String, String>,
}

impl Effective {
    /// `directory` is where the pom lies, when it lies in a project and not in the repository.
    pub fn of(pom: Pom, directory: Option<&Path>, repository: &Repository) -> Effective {
        Effective::nested(pom, directory, repository, 0)
    }

    /// `imports` counts the poms that import each other's `dependencyManagement`.
    fn nested(pom: Pom, directory: Option<&Path>, repository: &Repository, imports: usize) -> Effective {
        let family = with_parents(pom, directory, repository);
        let mut effective = Effective::default();
        for pom in family.iter().rev() {
            effective.properties.extend(pom.properties.clone());
        }
        effective.properties.extend(project_properties(&family[0]));
        effective.coordinates = effective.fill_coordinates(&family[0].coordinates);
        effective.dependencies = family.iter().flat_map(|pom| pom.dependencies.clone()).collect();

        // Properties are replaced last, because a child may set what its parent's versions refer to.
        let managed: Vec<_> = family.iter().flat_map(|pom| &pom.managed).map(|d| effective.fill(d)).collect();
        let (imported, own): (Vec<_>, Vec<_>) = managed.into_iter().partition(|d| d.scope == "import");
        for dependency in own {
            effective.managed.entry(key(&dependency)).or_insert(dependency);
        }
        for import in imported.iter().filter(|_| imports < MAX_PARENTS) {
            let Some(pom) = load(&import.coordinates, repository) else { continue };
            for (key, dependency) in Effective::nested(pom, None, repository, imports + 1).managed {
                effective.managed.entry(key).or_insert(dependency);
            }
        }
        effective
    }

    /// The dependency with its properties replaced and what `dependencyManagement` knows of it added.
    fn resolve(&self, dependency: &Dependency) -> Dependency {
        let mut full = self.fill(dependency);
        if let Some(managed) = self.managed.get(&key(&full)) {
            if full.coordinates.version.is_empty() {
                full.coordinates.version.clone_from(&managed.coordinates.version);
            }
            if full.scope.is_empty() {
                full.scope.clone_from(&managed.scope);
            }
            full.exclusions.extend(managed.exclusions.iter().cloned());
        }
        full
    }

    fn fill(&self, dependency: &Dependency) -> Dependency {
        Dependency {
            coordinates: self.fill_coordinates(&dependency.coordinates),
            scope: self.text(&dependency.scope),
            kind: self.text(&dependency.kind),
            classifier: self.text(&dependency.classifier),
            system_path: self.text(&dependency.system_path),
            ..dependency.clone()
        }
    }

    fn fill_coordinates(&self, coordinates: &Coordinates) -> Coordinates {
        Coordinates {
            group: self.text(&coordinates.group),
            artifact: self.text(&coordinates.artifact),
            version: self.text(&coordinates.version),
        }
    }

    /// Replaces `${name}`, also where the value names others; what is unknown stays as it is.
    fn text(&self, text: &str) -> String {
        let mut text = text.to_string();
        // Each round replaces one; the bound ends properties that name each other in a circle.
        for _ in 0..50 {
            let Some(start) = text.rfind("${") else { break };
            let Some(end) = text[start..].find('}').map(|end| start + end) else { break };
            let Some(value) = self.properties.get(&text[start + 2..end]) else { break };
            text.replace_range(start..=end, value);
        }
        text
    }
}

fn key(dependency: &Dependency) -> (String, String, String) {
    let Coordinates { group, artifact, .. } = &dependency.coordinates;
    (group.clone(), artifact.clone(), dependency.classifier.clone())
}

fn project_properties(pom: &Pom) -> Vec<(String, String)> {
    let mut properties = Vec::new();
    let mut add = |prefix: &str, coordinates: &Coordinates| {
        for (name, value) in [
            ("groupId", &coordinates.group),
            ("artifactId", &coordinates.artifact),
            ("version", &coordinates.version),
        ] {
            properties.push((format!("{prefix}.{name}"), value.clone()));
        }
    };
    add("project", &pom.coordinates);
    add("pom", &pom.coordinates);
    if let Some(parent) = &pom.parent {
        add("project.parent", &parent.coordinates);
    }
    properties
}

/// The pom, its parent, the parent's parent and so on.
fn with_parents(pom: Pom, directory: Option<&Path>, repository: &Repository) -> Vec<Pom> {
    let mut family = vec![pom];
    let mut directory = directory.map(Path::to_path_buf);
    while let Some(parent) = &family[family.len() - 1].parent
        && family.len() < MAX_PARENTS
        && let Some((pom, place)) = find_parent(parent, directory.as_deref(), repository)
    {
        family.push(pom);
        directory = place;
    }
    family
}

fn find_parent(
    parent: &Parent,
    directory: Option<&Path>,
    repository: &Repository,
) -> Option<(Pom, Option<PathBuf>)> {
    let beside = directory.filter(|_| parent.path.as_deref() != Some("")).and_then(|directory| {
        let path = directory.join(parent.path.as_deref().unwrap_or("../pom.xml"));
        let path = if path.is_dir() { path.join("pom.xml") } else { path };
        let pom = read(&path)?;
        let same = pom.coordinates.artifact == parent.coordinates.artifact;
        same.then(|| (pom, path.parent().map(Path::to_path_buf)))
    });
    beside.or_else(|| Some((load(&parent.coordinates, repository)?, None)))
}

pub fn read(path: &Path) -> Option<Pom> {
    Pom::parse(&fs::read_to_string(path).ok()?).ok()
}

fn load(coordinates: &Coordinates, repository: &Repository) -> Option<Pom> {
    read(&repository.file(coordinates, "", "pom")?)
}

/// The jars of everything that those of a project's poms depend on whose tool has said nothing, nearest first, and the
/// coordinates of what is not here.
pub fn dependencies(
    project: &[Effective],
    is_told: impl Fn(usize) -> bool,
    repository: &Repository,
) -> (Vec<PathBuf>, Vec<String>) {
    let own: BTreeSet<_> = project.iter().map(|root| artifact(&root.coordinates)).collect();
    let mut found = Found { own, seen: BTreeSet::new(), jars: Vec::new(), missing: Vec::new() };
    for (_, root) in project.iter().enumerate().filter(|(i, _)| !is_told(*i)) {
        found.collect(root, repository);
    }
    (found.jars, found.missing)
}

struct Found {
    /// Modules of the project itself: their classes are already there.
    own: BTreeSet<(String, String)>,
    seen: BTreeSet<(String, String, String)>,
    jars: Vec<PathBuf>,
    missing: Vec<String>,
}

impl Found {
    /// Breadth first, as Maven does: of two versions the one nearer to the project is taken.
    fn collect(&mut self, root: &Effective, repository: &Repository) {
        let mut queue: VecDeque<(Dependency, bool)> = VecDeque::new();
        queue.extend(root.dependencies.iter().map(|dependency| (root.resolve(dependency), true)));
        while let Some((mut dependency, direct)) = queue.pop_front() {
            let wanted = match dependency.scope.as_str() {
                "" | "compile" | "runtime" => direct || !dependency.optional,
                "provided" | "system" => direct,
                _ => false,
            };
            let is_jar = matches!(dependency.kind.as_str(), "" | "jar" | "bundle" | "ejb");
            if !wanted || !is_jar || self.own.contains(&artifact(&dependency.coordinates)) {
                continue;
            }
            if !self.seen.insert(key(&dependency)) || self.seen.len() > MAX_DEPENDENCIES {
                continue;
            }
            let Coordinates { group, artifact, version } = &mut dependency.coordinates;
            if version.is_empty() || version.contains("${") || version.starts_with(['[', '(']) {
                *version = repository.newest(group, artifact).unwrap_or_default();
            }
            self.add_jar(&dependency, repository);
            let Some(pom) = load(&dependency.coordinates, repository) else { continue };
            let theirs = Effective::of(pom, None, repository);
            for next in &theirs.dependencies {
                let mut next = theirs.resolve(next);
                // The project's own dependencyManagement also decides versions further down.
                if let Some(managed) =
                    root.managed.get(&key(&next)).filter(|m| !m.coordinates.version.is_empty())
                {
                    next.coordinates.version.clone_from(&managed.coordinates.version);
                }
                if !is_excluded(&next, &dependency.exclusions) {
                    next.exclusions.extend(dependency.exclusions.iter().cloned());
                    queue.push_back((next, false));
                }
            }
        }
    }

    fn add_jar(&mut self, dependency: &Dependency, repository: &Repository) {
        let system = Some(PathBuf::from(&dependency.system_path)).filter(|path| path.is_file());
        match system.or_else(|| repository.file(&dependency.coordinates, &dependency.classifier, "jar")) {
            Some(jar) => self.jars.push(jar),
            None => {
                let Coordinates { group, artifact, version } = &dependency.coordinates;
                let version = if version.is_empty() { String::new() } else { format!(":{version}") };
                self.missing.push(format!("{group}:{artifact}{version}"));
            }
        }
    }
}

fn artifact(coordinates: &Coordinates) -> (String, String) {
    (coordinates.group.clone(), coordinates.artifact.clone())
}

fn is_excluded(dependency: &Dependency, exclusions: &[(String, String)]) -> bool {
    let Coordinates { group, artifact, .. } = &dependency.coordinates;
    let matches = |pattern: &str, text: &str| pattern == "*" || pattern == text;
    exclusions.iter().any(|(g, a)| matches(g, group) && matches(a, artifact))
}
