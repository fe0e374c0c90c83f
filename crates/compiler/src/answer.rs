//! What the process says: classes, problems, and how long it took.

use crate::wire::{Decoder, Malformed};

pub(crate) const WELCOME: u8 = 0x81;
pub(crate) const ANSWER: u8 = 0x82;
pub(crate) const SUPERSEDED: u8 = 0x83;
pub(crate) const ERROR: u8 = 0x84;
pub(crate) const PONG: u8 = 0x85;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub compiled: Compiled,
    /// For people: class path entries that cannot be read, files that are not in their encoding.
    pub notes: Vec<String>,
    /// Sorted by id; those of which something is told.
    pub modules: Vec<ModuleAnswer>,
}

/// What was done, in microseconds and files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compiled {
    pub total: i64,
    pub declaring: i64,
    pub bodies: i64,
    pub rounds: i32,
    pub files: i32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleAnswer {
    pub id: String,
    /// Sorted by path: all that were compiled, ignored or removed.
    pub files: Vec<FileAnswer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAnswer {
    pub path: String,
    pub status: Status,
    pub has_errors: bool,
    pub has_syntax_errors: bool,
    /// Nothing in it could be attributed.
    pub is_lost: bool,
    /// It was compiled only because something it refers to has changed.
    pub is_dependent: bool,
    /// In the order of the text.
    pub problems: Vec<Problem>,
    /// Sorted by name; all that the file has, unless it has [`Status::Failed`] or [`Status::Withheld`].
    pub classes: Vec<Class>,
    /// What others see differently than before: than after the last answer or, of a file that was in none, on the class
    /// path. Sorted by name.
    pub changed: Vec<TypeChange>,
}

/// A class of which others see something else than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeChange {
    /// `p/Outer$Inner`
    pub name: String,
    /// It has come or gone, or more of it is different than the members.
    pub whole: bool,
    /// Fields and private methods that are different. If that is all, only those who also write such a name are
    /// concerned.
    pub members: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Compiled,
    Removed,
    /// It declares a module of Java.
    Ignored,
    /// It cannot be read, or the compiler broke on it: its classes are those there were.
    Failed,
    /// It has errors, and this compiler makes no classes then: they are those there were.
    Withheld,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// Nothing if it is about no place.
    pub place: Option<Place>,
    /// The compiler's own number for it.
    pub id: i32,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

/// Lines and columns begin at 1, columns count UTF-16 units, the end is behind the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// `p/Outer$Inner`
    pub name: String,
    /// Nothing but stubs, because something outside of bodies is wrong.
    pub is_problem_type: bool,
    /// Methods whose bodies were replaced because of errors in them.
    pub stubs: Vec<Method>,
    /// Names of methods that are in the source and not in the class.
    pub lost: Vec<String>,
    /// Nothing if they are those last told for this class of this file.
    pub bytes: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    pub name: String,
    pub descriptor: String,
}

/// With the number of the request it is about.
pub(crate) fn answer(body: &[u8]) -> Result<(i32, Answer), Malformed> {
    let mut from = Decoder::new(body);
    let request = from.i32()?;
    let compiled = Compiled {
        total: from.i64()?,
        declaring: from.i64()?,
        bodies: from.i64()?,
        rounds: from.i32()?,
        files: from.i32()?,
    };
    let (notes, modules) = (from.list(Decoder::text)?, from.list(module)?);
    from.end()?;
    Ok((request, Answer { compiled, notes, modules }))
}

fn module(from: &mut Decoder<'_>) -> Result<ModuleAnswer, Malformed> {
    Ok(ModuleAnswer { id: from.text()?, files: from.list(file)? })
}

fn file(from: &mut Decoder<'_>) -> Result<FileAnswer, Malformed> {
    let path = from.text()?;
    let status = match from.u8()? {
        0 => Status::Compiled,
        1 => Status::Removed,
        2 => Status::Ignored,
        3 => Status::Failed,
        4 => Status::Withheld,
        _ => return Err(Malformed),
    };
    let flags = from.u8()?;
    Ok(FileAnswer {
        path,
        status,
        has_errors: flags & 1 != 0,
        has_syntax_errors: flags & 2 != 0,
        is_lost: flags & 4 != 0,
        is_dependent: flags & 8 != 0,
        problems: from.list(problem)?,
        classes: from.list(class)?,
        changed: from.list(type_change)?,
    })
}

fn type_change(from: &mut Decoder<'_>) -> Result<TypeChange, Malformed> {
    let (name, whole) = (from.text()?, from.u8()? != 0);
    Ok(TypeChange { name, whole, members: from.list(Decoder::text)? })
}

fn problem(from: &mut Decoder<'_>) -> Result<Problem, Malformed> {
    let severity = match from.u8()? {
        0 => Severity::Error,
        1 => Severity::Warning,
        _ => return Err(Malformed),
    };
    let mut number = || u32::try_from(from.i32()?).map_err(|_| Malformed);
    let (line, column, end_line, end_column) = (number()?, number()?, number()?, number()?);
    let place = (line > 0).then_some(Place { line, column, end_line, end_column });
    Ok(Problem { severity, place, id: from.i32()?, message: from.text()? })
}

fn class(from: &mut Decoder<'_>) -> Result<Class, Malformed> {
    let (name, flags) = (from.text()?, from.u8()?);
    let method = |from: &mut Decoder<'_>| Ok(Method { name: from.text()?, descriptor: from.text()? });
    let (stubs, lost) = (from.list(method)?, from.list(Decoder::text)?);
    let bytes = from.blob()?;
    let bytes = (flags & 1 == 0).then(|| bytes.to_vec());
    Ok(Class { name, is_problem_type: flags & 2 != 0, stubs, lost, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Encoder;

    /// One file with one problem and one class.
    fn bytes() -> Vec<u8> {
        let mut body = Encoder::default();
        body.i32(9);
        (0..6).for_each(|_| _ = body.i32(0));
        body.i32(1).i32(2).list(&["a note"], |to, note| _ = to.text(note));
        body.list(&["m"], |to, id| {
            to.text(id).list(&["A.java"], |to, path| {
                to.text(path).u8(0).u8(1);
                to.list(&[()], |to, ()| {
                    _ = to.u8(0).i32(3).i32(5).i32(3).i32(9).i32(42).text("no such name")
                });
                to.list(&["A"], |to, class| {
                    to.text(class).u8(0).list(&["go"], |to, stub| _ = to.text(stub).text("()V"));
                    to.list(&["gone"], |to, lost| _ = to.text(lost)).text("bytes");
                });
                to.list(&["A"], |to, class| {
                    to.text(class).bool(false).list(&["n"], |to, member| _ = to.text(member));
                });
            });
        });
        body.frame(ANSWER).split_off(5)
    }

    #[test]
    fn an_answer_is_read() {
        let (request, answer) = answer(&bytes()).expect("an answer");
        assert_eq!((request, answer.compiled.files, answer.notes.len()), (9, 2, 1));
        let [file] = &answer.modules[0].files[..] else { panic!("one file") };
        assert!(file.has_errors && !file.has_syntax_errors);
        assert_eq!(file.problems[0].place.map(|place| (place.line, place.end_column)), Some((3, 9)));
        let [class] = &file.classes[..] else { panic!("one class") };
        assert_eq!((class.stubs[0].name.as_str(), class.lost.as_slice()), ("go", &["gone".to_owned()][..]));
        assert_eq!(class.bytes.as_deref(), Some(&b"bytes"[..]));
        let members = vec!["n".to_owned()];
        assert_eq!(file.changed, [TypeChange { name: "A".to_owned(), whole: false, members }]);
    }

    #[test]
    fn no_part_of_an_answer_is_one() {
        let bytes = bytes();
        for end in 0..bytes.len() {
            assert_eq!(answer(&bytes[..end]), Err(Malformed), "{end}");
        }
        assert_eq!(answer(&[bytes, vec![0]].concat()), Err(Malformed));
    }
}
