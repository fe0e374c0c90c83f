//! Which container has a class or a resource. Built once for a class path and shared by later ones that hold the
//! same names in the same places; reads no bytes.

use crate::assemble::{Container, Items};
use classfile::Layer;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub struct Index {
    pub classes: FxHashMap<Box<str>, Location>,
    pub resources: FxHashMap<Box<str>, Vec<Location>>,
    /// Classes that were there already, and where.
    pub duplicates: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub container: u32,
    pub item: u32,
    pub layer: Layer,
}

impl Index {
    pub fn of(containers: &[Container]) -> Index {
        let mut index = Index::default();
        for (number, container) in containers.iter().enumerate() {
            let layer = container.layer;
            let at =
                |item: usize, layer: Layer| Location { container: number as u32, item: item as u32, layer };
            match &container.items {
                Items::Jar(jar) => {
                    for class in &jar.contents.classes {
                        let is_others = (class.launcher || class.bundled) && layer == Layer::App;
                        let layer = if is_others { Layer::Library } else { layer };
                        index.add_class(&class.item.name, at(class.item.entry as usize, layer), containers);
                    }
                    for service in &jar.contents.services {
                        index.add_resource(&service.name, at(service.entry as usize, layer));
                    }
                }
                Items::Classes(_, names) => {
                    for (item, name) in names.iter().enumerate() {
                        index.add_class(name, at(item, layer), containers);
                    }
                }
                Items::Services(pieces) => {
                    for (item, piece) in pieces.iter().enumerate() {
                        let name = piece.path.file_name().map(|name| name.to_string_lossy());
                        let name = format!("META-INF/services/{}", name.unwrap_or_default());
                        index.add_resource(&name, at(item, layer));
                    }
                }
            }
        }
        index
    }

    fn add_class(&mut self, name: &str, location: Location, containers: &[Container]) {
        use std::collections::hash_map::Entry;
        match self.classes.entry(name.into()) {
            Entry::Vacant(free) => drop(free.insert(location)),
            Entry::Occupied(first) if first.key().ends_with("package-info") => {}
            Entry::Occupied(first) => {
                let label = |location: Location| &containers[location.container as usize].label;
                let (used, left) = (label(*first.get()), label(location));
                let name = first.key().replace('/', ".");
                self.duplicates.push(format!("{name} (in {used} and {left})"));
            }
        }
    }

    fn add_resource(&mut self, name: &str, location: Location) {
        self.resources.entry(name.into()).or_default().push(location);
    }
}
