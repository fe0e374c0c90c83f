//! What the entries of an archive are for: classes with their names, services, nested archives. Knows the
//! layouts of multi-release jars, Spring Boot jars and web archives; knows nothing of the class path.

use crate::archive::{Archive, Entry, MAX_ENTRY};
use crate::bundled::Bundled;
use crate::class_name::class_name;
use crate::layout::class_names;
use rustc_hash::FxHashSet;

#[derive(Default)]
pub struct Contents {
    pub classes: Vec<Class>,
    /// Files of `META-INF/services`.
    pub services: Vec<Item>,
    has_java: bool,
    pub nested: Vec<Nested>,
    /// `Class-Path` of the manifest: archives beside this one.
    pub beside: Vec<String>,
}

pub struct Class {
    pub item: Item,
    /// A launcher's own class beside the application it carries.
    pub launcher: bool,
    /// Of a dependency that was put into the archive of its user.
    pub bundled: bool,
}

pub struct Item {
    pub name: String,
    pub entry: u32,
}

pub struct Nested {
    pub entry: u32,
    /// A dependency rather than a part of the application.
    pub library: bool,
}

impl Contents {
    pub fn is_sources(&self) -> bool {
        self.classes.is_empty() && self.nested.is_empty() && self.has_java
    }

    /// Nothing but other archives, inside or beside this one: they are the application then.
    pub fn is_wrapping(&self) -> bool {
        self.classes.iter().all(|class| class.launcher) && self.nested.iter().all(|nested| nested.library)
    }
}

/// Sorts out the entries for a JDK of this feature version.
pub fn contents(archive: &Archive, feature: u32) -> Contents {
    let manifest = Manifest::of(archive);
    let bundled = Bundled::of(archive, manifest.main_class.as_deref());
    let class = |item: Item, launcher: bool| Class { bundled: bundled.has(&item.name), item, launcher };
    let carries =
        archive.entries.iter().any(|entry| strip_home(&entry.name).is_some() || is_library(&entry.name));
    let mut sorted = Contents { beside: manifest.class_path, ..Contents::default() };
    let mut versioned: Vec<(u32, &str, u32)> = Vec::new();
    let (mut home, mut root) = (Vec::new(), Vec::new());
    for (i, entry) in archive.entries.iter().enumerate() {
        let (i, name) = (i as u32, entry.name.as_str());
        if let Some((version, rest)) = strip_version(name) {
            if manifest.multi_release && (9..=feature).contains(&version) {
                versioned.push((version, rest, i));
            }
        } else if let Some(path) = name.strip_suffix(".class") {
            match strip_home(path) {
                Some(path) => home.push((path, i)),
                None => root.push((path, i)),
            }
        } else if name.ends_with(".jar") || name.ends_with(".war") {
            sorted
                .nested
                .push(Nested { entry: i, library: name.ends_with(".jar") && !name.starts_with("main/") });
        } else {
            let name = strip_home(name).unwrap_or(name);
            sorted.has_java |= name.ends_with(".java");
            if name.starts_with("META-INF/services/") {
                sorted.services.push(Item { name: name.to_string(), entry: i });
            }
        }
    }

    versioned.sort_by_key(|(version, ..)| std::cmp::Reverse(*version));
    let mut taken = FxHashSet::default();
    for (_, rest, entry) in versioned {
        if let Some(name) = rest.strip_suffix(".class").filter(|name| taken.insert(name.to_string())) {
            let item = Item { name: name.to_string(), entry };
            sorted.classes.push(class(item, false));
        }
    }
    for (paths, launcher) in [(home, false), (root, carries)] {
        let classes = name_classes(archive, paths).into_iter().filter(|item| !taken.contains(&item.name));
        sorted.classes.extend(classes.map(|item| class(item, launcher)));
    }
    sorted.classes.retain(|class| !class.item.name.ends_with("module-info"));
    sorted
}

fn name_classes(archive: &Archive, paths: Vec<(&str, u32)>) -> Vec<Item> {
    let only: Vec<_> = paths.iter().map(|(path, _)| *path).collect();
    let names = class_names(&only, |i| {
        let entry = &archive.entries[paths[i].1 as usize];
        class_name(&archive.read(entry, MAX_ENTRY).ok()?)
    });
    names.into_iter().zip(paths).map(|(name, (_, entry))| Item { name, entry }).collect()
}

/// Where Spring Boot jars and web archives keep the application's own classes.
fn strip_home(name: &str) -> Option<&str> {
    name.strip_prefix("BOOT-INF/classes/").or_else(|| name.strip_prefix("WEB-INF/classes/"))
}

fn is_library(name: &str) -> bool {
    name.starts_with("BOOT-INF/lib/") || name.starts_with("WEB-INF/lib/")
}

/// `META-INF/versions/17/a/B.class` as 17 and `a/B.class`.
fn strip_version(name: &str) -> Option<(u32, &str)> {
    let (version, rest) = name.strip_prefix("META-INF/versions/")?.split_once('/')?;
    Some((version.parse().ok()?, rest))
}

#[derive(Default)]
struct Manifest {
    multi_release: bool,
    class_path: Vec<String>,
    main_class: Option<String>,
}

impl Manifest {
    fn of(archive: &Archive) -> Manifest {
        let is_manifest = |entry: &&Entry| entry.name.eq_ignore_ascii_case("META-INF/MANIFEST.MF");
        let entry = archive.entries.iter().find(is_manifest);
        let bytes = entry.and_then(|entry| archive.read(entry, 1 << 20).ok()).unwrap_or_default();
        let mut manifest = Manifest::default();
        // Long lines go on in the next, which then begins with a space.
        let text =
            String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n").replace("\n ", "");
        for line in text.lines().take_while(|line| !line.is_empty()) {
            let (key, value) = line.split_once(':').unwrap_or((line, ""));
            match key.to_ascii_lowercase().as_str() {
                "multi-release" => manifest.multi_release = value.trim().eq_ignore_ascii_case("true"),
                "main-class" => manifest.main_class = Some(value.trim().to_string()),
                "class-path" => manifest.class_path = value.split_whitespace().map(str::to_string).collect(),
                _ => {}
            }
        }
        manifest
    }
}
