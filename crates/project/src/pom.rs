//! One `pom.xml` as written: coordinates, parent, properties, dependencies, modules. Nothing is inherited or
//! replaced here.

use roxmltree::{Document, Node};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct Pom {
    pub coordinates: Coordinates,
    pub parent: Option<Parent>,
    pub properties: BTreeMap<String, String>,
    pub dependencies: Vec<Dependency>,
    /// `dependencyManagement`: versions for dependencies that name none.
    pub managed: Vec<Dependency>,
    pub modules: Vec<String>,
    pub source_directory: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coordinates {
    pub group: String,
    pub artifact: String,
    pub version: String,
}

#[derive(Debug, Clone, Default)]
pub struct Parent {
    pub coordinates: Coordinates,
    /// Where the parent's pom lies; `None` for the directory above, empty for the repository only.
    pub path: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Dependency {
    pub coordinates: Coordinates,
    pub scope: String,
    pub kind: String,
    pub classifier: String,
    pub optional: bool,
    /// Group and artifact; either may be `*`.
    pub exclusions: Vec<(String, String)>,
    /// Scope `system`: the jar itself.
    pub system_path: String,
}

impl Coordinates {
    /// `group:artifact:version`.
    pub fn parse(text: &str) -> Option<Coordinates> {
        let mut parts = text.split(':').map(str::to_string);
        Some(Coordinates { group: parts.next()?, artifact: parts.next()?, version: parts.next()? })
    }
}

impl Pom {
    pub fn parse(xml: &str) -> Result<Pom, String> {
        let document = Document::parse(xml).map_err(|error| error.to_string())?;
        let root = document.root_element();
        let mut coordinates = coordinates(root);
        let parent = child(root, "parent").map(|node| Parent {
            coordinates: self::coordinates(node),
            path: child(node, "relativePath").map(|path| path.text().unwrap_or_default().trim().to_string()),
        });
        if let Some(parent) = &parent {
            let inherit = |own: &mut String, from: &String| {
                if own.is_empty() {
                    own.clone_from(from);
                }
            };
            inherit(&mut coordinates.group, &parent.coordinates.group);
            inherit(&mut coordinates.version, &parent.coordinates.version);
        }
        let properties = child(root, "properties").into_iter().flat_map(elements);
        let managed = child(root, "dependencyManagement").and_then(|node| child(node, "dependencies"));
        Ok(Pom {
            coordinates,
            parent,
            properties: properties.map(|node| (node.tag_name().name().to_string(), own_text(node))).collect(),
            dependencies: dependencies(child(root, "dependencies")),
            managed: dependencies(managed),
            modules: child(root, "modules").into_iter().flat_map(elements).map(own_text).collect(),
            source_directory: child(root, "build")
                .map(|build| text(build, "sourceDirectory"))
                .filter(|s| !s.is_empty()),
        })
    }
}

fn dependencies(list: Option<Node<'_, '_>>) -> Vec<Dependency> {
    list.into_iter().flat_map(elements).map(dependency).collect()
}

fn dependency(node: Node<'_, '_>) -> Dependency {
    let exclusions = child(node, "exclusions").into_iter().flat_map(elements);
    Dependency {
        coordinates: coordinates(node),
        scope: text(node, "scope"),
        kind: text(node, "type"),
        classifier: text(node, "classifier"),
        optional: text(node, "optional") == "true",
        exclusions: exclusions.map(|node| (text(node, "groupId"), text(node, "artifactId"))).collect(),
        system_path: text(node, "systemPath"),
    }
}

fn coordinates(node: Node<'_, '_>) -> Coordinates {
    let (group, artifact) = (text(node, "groupId"), text(node, "artifactId"));
    Coordinates { group, artifact, version: text(node, "version") }
}

fn elements<'a, 'b>(node: Node<'a, 'b>) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(Node::is_element)
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    elements(node).find(|child| child.tag_name().name() == name)
}

fn text(node: Node<'_, '_>, name: &str) -> String {
    child(node, name).map(own_text).unwrap_or_default()
}

fn own_text(node: Node<'_, '_>) -> String {
    node.text().unwrap_or_default().trim().to_string()
}
