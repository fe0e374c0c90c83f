//! Places as SARIF has them: URIs relative to the repository, and regions. Knows nothing of what happens there.

use super::model::{ArtifactLocation, Location, LogicalLocation, Message, PhysicalLocation, Region};
use crate::{files::Files, names::Names};
use findings::{Finding, Place, Site};
use std::ops::Range;

/// Stands for the root of the repository.
pub(super) const ROOT: &str = "%SRCROOT%";

/// Turns places into locations.
pub(super) struct Places<'a> {
    pub files: &'a Files<'a>,
    pub names: &'a Names<'a>,
}

impl Places<'_> {
    /// Within a method.
    pub fn location(&self, place: &Place, method: &str, message: String) -> Location {
        let named = LogicalLocation { fully_qualified_name: method.to_owned(), kind: "function" };
        Location {
            id: None,
            physical_location: self.physical(place, method, None),
            logical_locations: if method.is_empty() { vec![] } else { vec![named] },
            message: Some(Message::new(message)),
        }
    }

    /// A site, with the columns where the source shows them.
    pub fn site(&self, site: &Site, finding: &Finding, message: String) -> Location {
        let columns = self.files.columns(site, finding);
        Location {
            physical_location: self.physical(&site.place, &site.method, columns),
            ..self.location(&site.place, &site.method, message)
        }
    }

    fn physical(&self, place: &Place, method: &str, columns: Option<Range<usize>>) -> PhysicalLocation {
        let file = self.names.file_of(place, method);
        let is_inside = self.files.is_known(&place.file) && !file.starts_with('/');
        let region = Region {
            start_line: place.line,
            start_column: columns.as_ref().map(|columns| columns.start),
            end_column: columns.map(|columns| columns.end),
        };
        PhysicalLocation {
            artifact_location: ArtifactLocation { uri: uri(&file), uri_base_id: is_inside.then_some(ROOT) },
            region: (place.line > 0).then_some(region),
        }
    }
}

/// A path as a reference: what has a meaning in URIs is escaped, and a path from the root of the disk says so.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(byte.into())
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("src/bank/Main.java"), "src/bank/Main.java");
        assert_eq!(uri("a b/100%/ü#?:[x].java"), "a%20b/100%25/%C3%BC%23%3F%3A%5Bx%5D.java");
        assert_eq!(uri("/tmp/A.java"), "file:///tmp/A.java");
        assert_eq!(uri("\u{1b}\n"), "%1B%0A");
    }
}
