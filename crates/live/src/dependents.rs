//! Which built classes speak of which others, so that sources nobody has opened are compiled when what they refer to
//! changes. Reads classes only; which source a class comes from is told by the class itself.

use classfile::{ClassSource, Layer};
use compiler::TypeChange;
use project::Project;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// What the application's classes, as a build has left them, say of themselves.
#[derive(Default)]
pub struct Built {
    /// By name.
    classes: FxHashMap<String, Facts>,
    /// By source, as findings name it: `bank/Account.java`.
    by_source: FxHashMap<String, Vec<String>>,
}

struct Facts {
    source: String,
    /// Classes above it, of the application or not.
    above: Vec<String>,
    /// Classes of the application that it speaks of.
    mentions: Vec<String>,
}

impl Built {
    pub fn of(project: &Project) -> Built {
        let mut built = Built::default();
        built.read(project, project.app_classes());
        built
    }

    /// The same after these classes have appeared, changed or gone.
    pub fn follow(&mut self, project: &Project, changed: &[String]) {
        for name in changed {
            if let Some(facts) = self.classes.remove(name)
                && let Some(classes) = self.by_source.get_mut(&facts.source)
            {
                classes.retain(|class| class != name);
            }
        }
        let is_own = |name: &&String| project.layer(name) == Some(Layer::App);
        self.read(project, changed.iter().filter(is_own).cloned().collect());
    }

    fn read(&mut self, project: &Project, names: Vec<String>) {
        let own: FxHashSet<&str> =
            names.iter().map(String::as_str).chain(self.classes.keys().map(String::as_str)).collect();
        let read: Vec<Option<Facts>> = names.par_iter().map(|name| facts(project, name, &own)).collect();
        for (name, facts) in names.into_iter().zip(read) {
            let Some(facts) = facts else { continue };
            self.by_source.entry(facts.source.clone()).or_default().push(name.clone());
            self.classes.insert(name, facts);
        }
    }

    /// The classes that were made of a source.
    pub fn of_source(&self, source: &str) -> &[String] {
        self.by_source.get(source).map_or(&[], Vec::as_slice)
    }

    /// Sources whose classes speak of what has changed, or of a class below it.
    pub fn dependents(&self, project: &Project, changed: &[TypeChange]) -> Vec<&str> {
        let mut sources = Vec::new();
        for change in changed {
            let meant = self.with_those_below(&change.name);
            for (name, facts) in &self.classes {
                let speaks =
                    facts.above.iter().chain(&facts.mentions).any(|other| meant.contains(other.as_str()));
                if speaks && (change.whole || writes_one_of(project, name, &change.members)) {
                    sources.push(facts.source.as_str());
                }
            }
        }
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// A class and all that inherit from it.
    pub fn with_those_below<'a>(&'a self, class: &'a str) -> FxHashSet<&'a str> {
        let mut meant = FxHashSet::from_iter([class]);
        loop {
            let below = self.classes.iter().filter(|(name, facts)| {
                !meant.contains(name.as_str())
                    && facts.above.iter().any(|above| meant.contains(above.as_str()))
            });
            let below: Vec<&str> = below.map(|(name, _)| name.as_str()).collect();
            if below.is_empty() {
                return meant;
            }
            meant.extend(below);
        }
    }
}

fn writes_one_of(project: &Project, class: &str, members: &[String]) -> bool {
    let Some(found) = project.find(class) else { return false };
    let Ok(file) = classfile::parse(&found.bytes) else { return true };
    file.texts().any(|text| members.iter().any(|member| member == text))
}

fn facts(project: &Project, name: &str, own: &FxHashSet<&str>) -> Option<Facts> {
    let found = project.find(name)?;
    let class = classfile::parse(&found.bytes).ok()?;
    let (package, simple) = name.rsplit_once('/').map_or(("", name), |(package, simple)| (package, simple));
    let file = match &class.source_file {
        Some(file) => file.to_string(),
        // Without debug information, as most sources are named.
        None => format!("{}.java", simple.split('$').next().unwrap_or(simple)),
    };
    let source = if package.is_empty() { file } else { format!("{package}/{file}") };
    let above = class.super_name.iter().chain(&class.interfaces).map(|above| above.to_string()).collect();
    let mut mentions = FxHashSet::default();
    for text in class.texts() {
        if own.contains(text) {
            mentions.insert(text);
        } else if text.contains(';') {
            mentions.extend(classes_in(text).filter(|name| own.contains(name)));
        }
    }
    mentions.remove(name);
    let mut mentions: Vec<String> = mentions.into_iter().map(str::to_owned).collect();
    mentions.sort_unstable();
    Some(Facts { source, above, mentions })
}

/// The classes in a descriptor or a generic signature.
fn classes_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(['(', ')', '<', '>', ':', ';', '[', '+', '-', '*']).filter_map(|part| {
        let start = part.find('L')?;
        Some(&part[start + 1..])
    })
}

#[cfg(test)]
mod tests {
    use super::classes_in;

    #[test]
    fn classes_are_found_in_descriptors_and_signatures() {
        let names = |text| classes_in(text).collect::<Vec<_>>();
        assert_eq!(names("(ILp/A;[[Lq/B$C;)Lr/D;"), ["p/A", "q/B$C", "r/D"]);
        assert_eq!(names("Ljava/util/Map<TK;+Lp/A;>;"), ["java/util/Map", "p/A"]);
        assert!(names("(IJ)V").is_empty());
    }
}
