//! What annotations say about guards: `@GuardedBy("this")`, `"lock"`, `"Class.lock"`, `"Class.class"`, `"lock()"`.
//! Only reads their text.

use crate::path::{LockKind, Path, Root, Step};
use classfile::Layer;
use ir::{Annotation, ClassId, FieldId, MethodId, Program};
use models::{Kind, Knowledge, Says};

/// The lock that a method says its callers hold.
pub(crate) fn of_method(program: &Program, knowledge: &Knowledge, method: MethodId) -> Option<Path> {
    let entry = program.method(method);
    let text = text(program, knowledge, &entry.annotations)?;
    lock(program, knowledge, entry.class, &text)
}

/// The lock that a field says it is guarded by, from the object that has the field.
pub(crate) fn of_field(
    program: &Program,
    knowledge: &Knowledge,
    field: FieldId,
) -> Option<(String, Option<Path>)> {
    let entry = program.field(field);
    let text = text(program, knowledge, &entry.annotations)?;
    let lock = lock(program, knowledge, entry.class, &text);
    Some((text, lock))
}

fn text(program: &Program, knowledge: &Knowledge, annotations: &[Annotation]) -> Option<String> {
    let guard = annotations
        .iter()
        .find(|note| knowledge.says(&program.names[note.class]).contains(&Says::GuardedBy))?;
    let value = guard.values.iter().find(|(name, _)| matches!(&program.names[*name], "value" | "lock"));
    Some(value.or(guard.values.first())?.1.trim().to_owned())
}

fn lock(program: &Program, knowledge: &Knowledge, class: ClassId, text: &str) -> Option<Path> {
    let text = text.strip_prefix("this.").unwrap_or(text);
    if text == "this" || text == "itself" {
        return (text == "this").then_some(Path::THIS);
    }
    if let Some(name) = text.strip_suffix(".class") {
        return Some(Path::of(Root::Class(named(program, class, name)?)));
    }
    if text.ends_with(".this") {
        // `Outer.this`: the lock of the object around this one.
        return None;
    }
    let (owner, name) = match text.rsplit_once('.') {
        Some((owner, name)) => (named(program, class, owner)?, name),
        None => (class, text),
    };
    let owners: Vec<ClassId> = program.superclasses(owner).collect();
    let field = owners
        .iter()
        .flat_map(|&owner| program.class(owner).fields.iter().copied())
        .find(|&field| &program.names[program.field_ref(field).name] == name)?;
    let path = match program.field(field).access & ir::access::STATIC {
        0 => Path::THIS.then(Step::Field(field))?,
        _ => Path::of(Root::Static(field)),
    };
    Some(path.locked(kind_of(program, knowledge, program.field(field).class_of)))
}

/// How an object of this class is locked, if it is a lock.
pub(crate) fn kind_of(program: &Program, knowledge: &Knowledge, class: Option<ClassId>) -> LockKind {
    match class.is_some_and(|class| is_lock(program, knowledge, class)) {
        true => LockKind::Explicit,
        false => LockKind::Monitor,
    }
}

/// Is this a class of locks?
pub(crate) fn is_lock(program: &Program, knowledge: &Knowledge, class: ClassId) -> bool {
    is_lock_named(program, knowledge, program.class_name(class))
}

/// The same, by its internal name. Of classes that are not of the application only the names count: which of them are
/// loaded depends on what was looked for before.
pub(crate) fn is_lock_named(program: &Program, knowledge: &Knowledge, class: &str) -> bool {
    let is_known = |class: &str| knowledge.kind(class) == Some(Kind::Lock);
    let own = program.find_class(class).filter(|&class| program.class(class).layer == Layer::App);
    is_known(class)
        || own.is_some_and(|own| program.supertypes(own).any(|above| is_known(program.class_name(above))))
}

/// A class as the source names it: simple, of the same package, or nested.
fn named(program: &Program, class: ClassId, name: &str) -> Option<ClassId> {
    let own = program.class_name(class);
    let simple = |full: &str| full.rsplit(['/', '$']).next() == Some(name);
    if simple(own) {
        return Some(class);
    }
    let internal = name.replace('.', "/");
    let package = own.rsplit_once('/').map_or("", |(package, _)| package);
    let beside = if package.is_empty() { internal.clone() } else { format!("{package}/{internal}") };
    let outer = own.split('$').next().filter(|outer| simple(outer)).map(str::to_owned);
    let candidates = [Some(internal), Some(beside), Some(format!("{own}${name}")), outer];
    candidates.into_iter().flatten().find_map(|name| program.find_class(&name))
}
