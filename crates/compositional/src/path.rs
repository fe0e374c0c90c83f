//! Access paths: how a method names memory, from a parameter or a static field on. Two accesses are taken to meet
//! if they are to the same path; what objects there are is never asked.

use crate::link::{digest, field_digest};
use ir::{ClassId, FieldId, Program};
use serde::{Deserialize, Serialize};

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Root {
    /// A parameter, `this` first.
    Param(u16),
    Static(FieldId),
    /// The object of a class, as a lock.
    Class(ClassId),
    /// An object made by the method itself, by the number of its value; means nothing outside of it.
    Made(u32),
    /// Something without a name.
    Unknown,
}

/// What a path goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    Field(FieldId),
    /// Any element of an array.
    Elements,
    /// What a container of a library holds.
    Contents,
}

/// Longer paths are not followed: they name too many things that are rarely the same.
pub const LONGEST: usize = 4;

/// What of an object is locked: each object has a monitor, and an object of a lock class is a lock besides.
/// The two have nothing to do with each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LockKind {
    #[default]
    Monitor,
    /// What the methods of its class acquire and release.
    Explicit,
}

/// There are many of them: each step is a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Path {
    pub root: Root,
    steps: [u32; LONGEST],
    /// Of a path that names a lock; memory has none.
    pub lock: LockKind,
}

const NONE: u32 = 0;
const ELEMENTS: u32 = 1;
const CONTENTS: u32 = 2;
const FIRST_FIELD: u32 = 3;

impl Path {
    pub const UNKNOWN: Path = Path::of(Root::Unknown);
    pub const THIS: Path = Path::of(Root::Param(0));
    /// Something new that another method has made.
    pub const NEW: Path = Path::of(Root::Made(u32::MAX));

    pub const fn of(root: Root) -> Path {
        Path { root, steps: [NONE; LONGEST], lock: LockKind::Monitor }
    }

    /// The same object as a lock of this kind. What has no name is any lock.
    pub fn locked(self, lock: LockKind) -> Path {
        match self.root {
            Root::Unknown => self,
            _ => Path { lock, ..self },
        }
    }

    pub fn steps(&self) -> impl DoubleEndedIterator<Item = Step> + use<> {
        let (steps, len) = (self.steps, self.len());
        (0..len).filter_map(move |at| unpacked(steps[at]))
    }

    /// The fields it goes through, a static one that it begins with included.
    pub fn fields(&self) -> impl Iterator<Item = FieldId> + use<> {
        let first = match self.root {
            Root::Static(field) => Some(field),
            _ => None,
        };
        let rest = self.steps().filter_map(|step| match step {
            Step::Field(field) => Some(field),
            _ => None,
        });
        first.into_iter().chain(rest)
    }

    pub fn len(&self) -> usize {
        self.steps.iter().take_while(|&&step| step != NONE).count()
    }

    pub fn is_root(&self) -> bool {
        self.steps[0] == NONE
    }

    /// One step further; `None` if that is too far, or from nowhere.
    pub fn then(mut self, step: Step) -> Option<Path> {
        if self.root == Root::Unknown {
            return None;
        }
        let free = self.steps.iter_mut().find(|step| **step == NONE)?;
        *free = packed(step);
        Some(self)
    }

    /// The path with everything after its root put behind another one; as a lock it stays what it was.
    pub fn rebased(&self, onto: Path) -> Option<Path> {
        let onto = onto.locked(self.lock);
        self.steps().try_fold(onto, Path::then)
    }

    /// The same without its first step.
    pub fn tail(&self) -> Path {
        let mut steps = [NONE; LONGEST];
        steps[..LONGEST - 1].copy_from_slice(&self.steps[1..]);
        Path { root: self.root, steps, lock: self.lock }
    }

    /// The same without its first steps.
    pub fn after(&self, steps: usize) -> Path {
        (0..steps).fold(*self, |path, _| path.tail())
    }

    pub fn first(&self) -> Option<Step> {
        unpacked(self.steps[0])
    }

    pub fn last(&self) -> Option<Step> {
        self.steps().next_back()
    }

    /// Without the last step.
    pub fn parent(mut self) -> Option<Path> {
        let last = self.steps.iter_mut().rev().find(|step| **step != NONE)?;
        *last = NONE;
        Some(self)
    }

    /// A number that depends on names only, given those of fields and classes.
    pub fn digest(&self, field: impl Fn(FieldId) -> u64, class: impl Fn(ClassId) -> u64) -> u64 {
        let root = match self.root {
            Root::Param(number) => (0u8, u64::from(number)),
            Root::Static(id) => (1, field(id)),
            Root::Class(id) => (2, class(id)),
            Root::Made(value) => (3, u64::from(value)),
            Root::Unknown => (4, 0),
        };
        let step = |step: Step| match step {
            Step::Field(id) => field(id),
            Step::Elements => 1,
            Step::Contents => 2,
        };
        let steps: [u64; LONGEST] = self.steps.map(|packed| unpacked(packed).map_or(0, step));
        digest((root, steps, self.lock))
    }

    /// The same, with the names of a program.
    pub fn name_digest(&self, program: &Program) -> u64 {
        self.digest(|field| field_digest(program, field), |class| digest(program.class_name(class)))
    }

    /// Is this the way to the other one, or the other one itself?
    pub fn leads_to(&self, other: &Path) -> bool {
        self.root == other.root && self.steps[..self.len()] == other.steps[..self.len()]
    }
}

impl std::fmt::Debug for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.root)?;
        self.steps().try_for_each(|step| write!(f, ".{step:?}"))
    }
}

fn packed(step: Step) -> u32 {
    match step {
        Step::Elements => ELEMENTS,
        Step::Contents => CONTENTS,
        Step::Field(field) => FIRST_FIELD + field.0,
    }
}

fn unpacked(step: u32) -> Option<Step> {
    match step {
        NONE => None,
        ELEMENTS => Some(Step::Elements),
        CONTENTS => Some(Step::Contents),
        field => Some(Step::Field(FieldId(field - FIRST_FIELD))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u32) -> Step {
        Step::Field(FieldId(number))
    }

    #[test]
    fn paths_grow_until_they_are_too_long() {
        let mut path = Path::THIS;
        for number in 0..LONGEST as u32 {
            path = path.then(field(number)).expect("short enough");
        }
        assert_eq!(path.len(), LONGEST);
        assert_eq!(path.then(field(9)), None);
        assert_eq!(Path::UNKNOWN.then(field(1)), None);
    }

    #[test]
    fn a_path_is_moved_behind_another() {
        let inner = Path::of(Root::Param(1)).then(field(7)).expect("short");
        let outer = Path::THIS.then(field(3)).expect("short");
        let moved = inner.rebased(outer).expect("short");
        assert_eq!(moved.steps().collect::<Vec<_>>(), [field(3), field(7)]);
        assert!(outer.leads_to(&moved) && !moved.leads_to(&outer));
        assert_eq!(moved.parent(), Some(outer));
        assert_eq!(moved.tail(), Path::THIS.then(field(7)).expect("short"));
    }
}
