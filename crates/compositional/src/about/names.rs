//! What a lock is called from an object, so that the locks of two methods can be compared. Knows paths only.

use crate::path::{Path, Root, Step};
use ir::{FieldId, Program};

/// The names that a lock has whichever of these the object is.
pub(super) fn from_all(program: &Program, owners: &[Path], lock: &Path) -> Vec<String> {
    let mut all = owners.iter().map(|owner| from(program, Some(owner), lock));
    let first = all.next().unwrap_or_else(|| from(program, None, lock));
    all.fold(first, |common, names| common.into_iter().filter(|name| names.contains(name)).collect())
}

/// The names of a lock: the same for all, and as the way there from the object. That is what comes last.
pub(super) fn from(program: &Program, owner: Option<&Path>, lock: &Path) -> Vec<String> {
    let everywhere = match lock.root {
        Root::Static(field) => below(program, program.field_display(field), lock.steps()),
        Root::Class(class) => Some(format!("{}.class", program.class_display(class))),
        Root::Param(_) | Root::Made(_) | Root::Unknown => None,
    };
    let from_here = owner.and_then(|owner| relative(program, owner, lock));
    everywhere.into_iter().chain(from_here).collect()
}

/// `this.lock` for a lock of the object itself, `bank.Bank.this.lock` for one of an object that leads to it.
fn relative(program: &Program, owner: &Path, lock: &Path) -> Option<String> {
    if owner.root != lock.root || owner.root == Root::Unknown {
        return None;
    }
    let common = owner.steps().zip(lock.steps()).take_while(|(one, other)| one == other).count();
    let top = match owner.steps().nth(common) {
        None => "this".to_owned(),
        Some(Step::Field(field)) => {
            format!("{}.this", program.class_display(program.field_ref(field).class))
        }
        Some(Step::Elements | Step::Contents) => return None,
    };
    below(program, top, lock.steps().skip(common))
}

fn below(program: &Program, top: String, mut steps: impl Iterator<Item = Step>) -> Option<String> {
    steps.try_fold(top, |name, step| match step {
        Step::Field(field) => Some(format!("{name}.{}", field_name(program, field))),
        Step::Elements | Step::Contents => None,
    })
}

fn field_name(program: &Program, field: FieldId) -> &str {
    &program.names[program.field_ref(field).name]
}
