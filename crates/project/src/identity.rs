//! What makes a program the one it is, as bytes to be hashed. Knows no hash, and nothing of what it is used for.

use crate::Project;
use crate::assemble::{Container, Items};
use std::io::Read;
use std::path::Path;
use std::{fs, io};

impl Project {
    /// Hands over, part by part, the content of everything classes and resources are taken from, and which JDK is
    /// used. Two projects with the same parts give the same classes. Nothing is unpacked, so the same classes packed
    /// differently are different parts; times and places of files do not matter.
    pub fn identify(&self, part: &mut dyn FnMut(&[u8])) {
        self.identify_jdk(part);
        self.classpath.containers.iter().for_each(|container| identify(container, part));
    }

    /// The part of this that says which JDK is used.
    pub fn identify_jdk(&self, part: &mut dyn FnMut(&[u8])) {
        part(&fs::read(self.jdk.home.join("release")).unwrap_or_default());
        part(&index_of_modules(&self.jdk.home.join("lib/modules")).unwrap_or_default());
    }
}

/// Where the image of a JDK says what it holds, where and how much of it.
const INDEX: u64 = 4 << 20;

fn index_of_modules(modules: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(modules)?;
    let mut bytes = file.metadata()?.len().to_le_bytes().to_vec();
    file.take(INDEX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn identify(container: &Container, part: &mut dyn FnMut(&[u8])) {
    part(&[container.layer as u8]);
    match &container.items {
        Items::Jar(jar) => {
            let classes =
                jar.contents.classes.iter().map(|class| (&class.item, class.launcher || class.bundled));
            let services = jar.contents.services.iter().map(|service| (service, false));
            for (item, is_others) in classes.chain(services) {
                let entry = &jar.archive.entries[item.entry as usize];
                part(item.name.as_bytes());
                part(&[u8::from(is_others), u8::from(entry.encrypted)]);
                part(&entry.method.to_le_bytes());
                part(&entry.size.to_le_bytes());
                part(&jar.archive.digest(item.entry as usize).to_le_bytes());
            }
        }
        Items::Classes(pieces, names) => {
            for (piece, name) in pieces.iter().zip(names) {
                part(name.as_bytes());
                part(&piece.read().unwrap_or_default());
            }
        }
        Items::Services(pieces) => {
            for piece in pieces {
                part(piece.path.file_name().unwrap_or_default().as_encoded_bytes());
                part(&piece.read().unwrap_or_default());
            }
        }
    }
    part(b"end of the container");
}
