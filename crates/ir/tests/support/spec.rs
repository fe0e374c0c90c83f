//! Class files from short descriptions, for tests that need many versions of a program quickly. Knows only what these
//! tests ask for: reference fields, methods without parameters, straight code with a branch.

use classfile::{ClassBytes, ClassSource, Layer};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassSpec {
    pub access: u16,
    /// Object if empty.
    pub super_class: String,
    pub interfaces: Vec<String>,
    pub fields: Vec<(String, u16)>,
    pub methods: Vec<MethodSpec>,
    /// Leaves out the last bytes.
    pub is_damaged: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct MethodSpec {
    pub name: String,
    pub access: u16,
    pub code: Option<Vec<Op>>,
    /// Of the first operation.
    pub line: u16,
    pub throws: Vec<String>,
}

/// Operations on one local variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    New(String),
    Text(String),
    Call(String, String),
    Store(String, String),
    Load(String, String),
    /// Unless the local is null.
    Unless(Box<Op>),
    /// Not to be understood.
    Broken,
}

/// A program: classes by name with their layers.
#[derive(Debug, Clone, Default)]
pub struct Spec(pub BTreeMap<String, (ClassSpec, Layer)>);

impl ClassSource for Spec {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        let (class, layer) = self.0.get(name)?;
        Some(ClassBytes::new(class.bytes(name), *layer))
    }

    fn app_classes(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

impl ClassSpec {
    fn bytes(&self, name: &str) -> Vec<u8> {
        let mut pool = Pool::default();
        let this = pool.class(name);
        let is_object = name == "java/lang/Object";
        let parent = if self.super_class.is_empty() { "java/lang/Object" } else { &self.super_class };
        let parent = if is_object { 0 } else { pool.class(parent) };
        let interfaces: Vec<u16> = self.interfaces.iter().map(|name| pool.class(name)).collect();
        let mut body = Vec::new();
        put(&mut body, &[self.access, this, parent, interfaces.len() as u16]);
        put(&mut body, &interfaces);
        put(&mut body, &[self.fields.len() as u16]);
        for (name, access) in &self.fields {
            let (name, descriptor) = (pool.text(name), pool.text("Ljava/lang/Object;"));
            put(&mut body, &[*access, name, descriptor, 0]);
        }
        put(&mut body, &[self.methods.len() as u16]);
        for method in &self.methods {
            method.write(&mut pool, &mut body);
        }
        put(&mut body, &[0]);
        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe];
        put(&mut bytes, &[0, 48, pool.entries.len() as u16 + 1]);
        bytes.extend(pool.entries.concat());
        bytes.extend(body);
        bytes.truncate(bytes.len() - 3 * usize::from(self.is_damaged));
        bytes
    }
}

impl MethodSpec {
    fn write(&self, pool: &mut Pool, out: &mut Vec<u8>) {
        let (name, descriptor) = (pool.text(&self.name), pool.text("()V"));
        let attributes = usize::from(self.code.is_some()) + usize::from(!self.throws.is_empty());
        put(out, &[self.access, name, descriptor, attributes as u16]);
        if let Some(ops) = &self.code {
            let mut lines = vec![[0, self.line]];
            let mut code = vec![0x01, 0x4c];
            for op in ops {
                lines.push([code.len() as u16, self.line + lines.len() as u16]);
                op.write(pool, &mut code);
            }
            code.push(0xb1);
            let mut body = Vec::new();
            put(&mut body, &[4, 2, 0, code.len() as u16]);
            body.extend(code);
            put(&mut body, &[0, 1, pool.text("LineNumberTable"), 0, lines.len() as u16 * 4 + 2]);
            put(&mut body, &[lines.len() as u16]);
            put(&mut body, lines.as_flattened());
            put(out, &[pool.text("Code"), 0, body.len() as u16]);
            out.extend(body);
        }
        if !self.throws.is_empty() {
            let throws: Vec<u16> = self.throws.iter().map(|name| pool.class(name)).collect();
            put(out, &[pool.text("Exceptions"), 0, throws.len() as u16 * 2 + 2, throws.len() as u16]);
            put(out, &throws);
        }
    }
}

impl Op {
    fn write(&self, pool: &mut Pool, code: &mut Vec<u8>) {
        let mut with = |before: &[u8], opcode: u8, index: u16, after: &[u8]| {
            code.extend(before);
            code.push(opcode);
            put(code, &[index]);
            code.extend(after);
        };
        let (load, store) = (0x2b, 0x4c);
        match self {
            Op::New(class) => with(&[], 0xbb, pool.class(class), &[store]),
            Op::Text(text) => {
                let text = pool.text(text);
                with(&[], 0x13, pool.entry(8, &[text]), &[store]);
            }
            Op::Call(class, name) => with(&[load], 0xb6, pool.member(10, class, name, "()V"), &[]),
            Op::Store(class, name) => {
                with(&[load, load], 0xb5, pool.member(9, class, name, "Ljava/lang/Object;"), &[]);
            }
            Op::Load(class, name) => {
                with(&[load], 0xb4, pool.member(9, class, name, "Ljava/lang/Object;"), &[store]);
            }
            Op::Unless(inner) => {
                let mut then = Vec::new();
                inner.write(pool, &mut then);
                code.extend([load, 0xc7]);
                put(code, &[then.len() as u16 + 3]);
                code.extend(then);
            }
            Op::Broken => code.push(0xff),
        }
    }
}

#[derive(Default)]
struct Pool {
    entries: Vec<Vec<u8>>,
}

impl Pool {
    fn add(&mut self, entry: Vec<u8>) -> u16 {
        let known = self.entries.iter().position(|known| *known == entry);
        let at = known.unwrap_or_else(|| {
            self.entries.push(entry);
            self.entries.len() - 1
        });
        at as u16 + 1
    }

    fn entry(&mut self, tag: u8, indices: &[u16]) -> u16 {
        let mut entry = vec![tag];
        put(&mut entry, indices);
        self.add(entry)
    }

    fn text(&mut self, text: &str) -> u16 {
        let mut entry = vec![1];
        put(&mut entry, &[text.len() as u16]);
        entry.extend(text.as_bytes());
        self.add(entry)
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.entry(7, &[name])
    }

    fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let (class, name, descriptor) = (self.class(class), self.text(name), self.text(descriptor));
        let name = self.entry(12, &[name, descriptor]);
        self.entry(tag, &[class, name])
    }
}

fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    out.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
}
