//! Small classes made in memory: names, supertypes and methods without code.

use classfile::{ClassBytes, ClassSource, Layer};
use std::collections::BTreeMap;

pub const INTERFACE: u16 = 0x0600;
pub const ABSTRACT: u16 = 0x0400;
/// Native methods need no code.
pub const NATIVE: u16 = 0x0100;
pub const STATIC: u16 = 0x0008;

#[derive(Default)]
pub struct Classes(BTreeMap<String, (Vec<u8>, Layer)>);

impl Classes {
    /// Adds a class; methods are `(flags, name, descriptor)`.
    pub fn add(
        &mut self,
        layer: Layer,
        flags: u16,
        name: &str,
        supertypes: (&str, &[&str]),
        methods: &[(u16, &str, &str)],
    ) -> &mut Classes {
        self.0.insert(name.to_owned(), (assemble(flags, name, supertypes, methods), layer));
        self
    }
}

impl ClassSource for Classes {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        let (bytes, layer) = self.0.get(name)?;
        Some(ClassBytes::new(bytes.as_slice(), *layer))
    }

    fn app_classes(&self) -> Vec<String> {
        let app = self.0.iter().filter(|(_, (_, layer))| *layer == Layer::App);
        app.map(|(name, _)| name.clone()).collect()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

pub fn assemble(
    flags: u16,
    name: &str,
    (super_class, interfaces): (&str, &[&str]),
    methods: &[(u16, &str, &str)],
) -> Vec<u8> {
    let mut pool = Pool::default();
    let mut rest = Vec::new();
    let public = 0x0001;
    rest.extend((public | flags).to_be_bytes());
    rest.extend(pool.class(name).to_be_bytes());
    let super_class = if super_class.is_empty() { 0 } else { pool.class(super_class) };
    rest.extend(super_class.to_be_bytes());
    rest.extend((interfaces.len() as u16).to_be_bytes());
    for interface in interfaces {
        rest.extend(pool.class(interface).to_be_bytes());
    }
    rest.extend(0u16.to_be_bytes());
    rest.extend((methods.len() as u16).to_be_bytes());
    for (flags, name, descriptor) in methods {
        rest.extend((public | flags).to_be_bytes());
        rest.extend(pool.utf8(name).to_be_bytes());
        rest.extend(pool.utf8(descriptor).to_be_bytes());
        rest.extend(0u16.to_be_bytes());
    }
    rest.extend(0u16.to_be_bytes());
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61];
    bytes.extend((pool.count + 1).to_be_bytes());
    bytes.extend(pool.bytes);
    bytes.extend(rest);
    bytes
}

#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    count: u16,
}

impl Pool {
    fn utf8(&mut self, text: &str) -> u16 {
        self.bytes.push(1);
        self.bytes.extend((text.len() as u16).to_be_bytes());
        self.bytes.extend(text.as_bytes());
        self.count += 1;
        self.count
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.bytes.push(7);
        self.bytes.extend(name.to_be_bytes());
        self.count += 1;
        self.count
    }
}
