//! What was looked at while something was worked out, so that it is known when that has to be done again. The notes
//! belong to the thread: nobody can forget to hand them on.

use ir::{ClassId, MethodId};
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// Methods by their summaries, lines and callers; classes by what they say of themselves.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub methods: FxHashSet<MethodId>,
    pub classes: FxHashSet<ClassId>,
}

thread_local! {
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
}

/// Does the work, and tells what was looked at.
pub(crate) fn noting<T>(work: impl FnOnce() -> T) -> (T, Noted) {
    NOTED.set(Some(Noted::default()));
    let done = work();
    (done, NOTED.take().unwrap_or_default())
}

pub(crate) fn note_method(method: MethodId) {
    NOTED.with_borrow_mut(|noted| {
        if let Some(noted) = noted {
            noted.methods.insert(method);
        }
    });
}

pub(crate) fn note_class(class: ClassId) {
    NOTED.with_borrow_mut(|noted| {
        if let Some(noted) = noted {
            noted.classes.insert(class);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_looked_at_meanwhile_is_noted() {
        note_method(MethodId(1));
        let ((), noted) = noting(|| {
            note_method(MethodId(2));
            note_class(ClassId(3));
        });
        note_method(MethodId(4));
        assert_eq!(noted.methods.into_iter().collect::<Vec<_>>(), [MethodId(2)]);
        assert_eq!(noted.classes.into_iter().collect::<Vec<_>>(), [ClassId(3)]);
        assert!(noting(|| ()).1.methods.is_empty());
    }
}
