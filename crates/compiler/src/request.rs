//! What the process is asked: modules with their files, and edits of them.

use crate::wire::Encoder;

pub(crate) const HELLO: u8 = 0x01;
pub(crate) const CONFIGURE: u8 = 0x02;
pub(crate) const CHANGE: u8 = 0x03;
pub(crate) const PING: u8 = 0x05;
pub(crate) const SHUTDOWN: u8 = 0x06;
pub(crate) const MAGIC: i32 = 0x534E_524C;
pub(crate) const VERSION: i32 = 2;

/// Sources that are compiled with one class path. Paths are opaque: the process gives them back as they were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    pub id: String,
    /// Whose types are seen; empty for the java that runs the process.
    pub java_home: String,
    /// 0, or the version of Java whose documented API is seen.
    pub release: i32,
    /// Of the language, from 8 on; what is newer than the process knows is its newest.
    pub level: i32,
    pub preview: bool,
    /// Of files that are read from disk; empty for UTF-8.
    pub encoding: String,
    /// Files whose declarations are damaged go on offering their last sound classes to others.
    pub hold: bool,
    /// Modules whose classes are seen, all of them.
    pub depends_on: Vec<String>,
    pub class_path: Vec<String>,
    /// Every source below them is a file of the module.
    pub source_roots: Vec<String>,
    /// Further files, and buffers in the place of files.
    pub files: Vec<File>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub path: String,
    /// Nothing if it is to be read from disk.
    pub buffer: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleChange {
    pub module: String,
    pub edits: Vec<Edit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// It is new, or has another text.
    Put(File),
    Remove(String),
    /// A jar or directory of the class path has other contents.
    Touched(String),
    /// The module itself is gone.
    End,
}

pub(crate) fn hello() -> Vec<u8> {
    let mut body = Encoder::default();
    body.i32(MAGIC).i32(VERSION);
    body.frame(HELLO)
}

pub(crate) fn ping(token: i32) -> Vec<u8> {
    let mut body = Encoder::default();
    body.i32(token);
    body.frame(PING)
}

pub(crate) fn shutdown() -> Vec<u8> {
    Encoder::default().frame(SHUTDOWN)
}

/// `newest` is the newest level that the process knows.
pub(crate) fn configure(request: i32, modules: &[Module], newest: i32) -> Vec<u8> {
    let mut body = Encoder::default();
    body.i32(request).list(modules, |to, module| {
        let texts = |to: &mut Encoder, list: &[String]| _ = to.list(list, |to, text| _ = to.text(text));
        to.text(&module.id).text(&module.java_home).i32(module.release).i32(module.level.min(newest));
        to.bool(module.preview).text(&module.encoding).bool(module.hold);
        texts(to, &module.depends_on);
        texts(to, &module.class_path);
        texts(to, &module.source_roots);
        to.list(&module.files, file);
    });
    body.frame(CONFIGURE)
}

pub(crate) fn change(request: i32, changes: &[ModuleChange]) -> Vec<u8> {
    let mut body = Encoder::default();
    body.i32(request).list(changes, |to, change| {
        to.text(&change.module).list(&change.edits, |to, edit| match edit {
            Edit::Put(put) => file(to.u8(0), put),
            Edit::Remove(path) => _ = to.u8(1).text(path),
            Edit::Touched(path) => _ = to.u8(2).text(path),
            Edit::End => _ = to.u8(3),
        });
    });
    body.frame(CHANGE)
}

fn file(to: &mut Encoder, file: &File) {
    to.text(&file.path).bool(file.buffer.is_some());
    file.buffer.iter().for_each(|text| _ = to.text(text));
}

/// The modules as they are after these changes, for a process that knows nothing of either.
pub(crate) fn applied(mut modules: Vec<Module>, changes: &[ModuleChange]) -> Vec<Module> {
    for change in changes {
        for edit in &change.edits {
            let Some(at) = modules.iter().position(|module| module.id == change.module) else { continue };
            let files = &mut modules[at].files;
            match edit {
                Edit::Put(put) => {
                    files.retain(|file| file.path != put.path);
                    files.push(put.clone());
                }
                Edit::Remove(path) => files.retain(|file| file.path != *path),
                Edit::Touched(_) => {}
                Edit::End => _ = modules.remove(at),
            }
        }
    }
    modules
}
