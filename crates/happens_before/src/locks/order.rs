//! Locks in the order of content. Knows what a lock is made of; nothing of where locks are held.

use crate::content::Content;
use crate::types::{HeldLock, LockKey, LockNode, Nesting, PathStep, Wanted};
use ir::StmtId;
use pointsto::Act;
use std::cmp::Ordering;

impl Content<'_> {
    pub fn lock_nodes(&self, a: LockNode, b: LockNode) -> Ordering {
        match (a, b) {
            (LockNode::Object(a), LockNode::Object(b)) => self.objects(a, b),
            (LockNode::Part { of, object }, LockNode::Part { of: other, object: part }) => {
                self.objects(object, part).then_with(|| self.objects(of, other))
            }
            (LockNode::Class(a), LockNode::Class(b)) => self.classes(a, b),
            (LockNode::Explicit { of, object }, LockNode::Explicit { of: other, object: lock }) => {
                let by_owner = || match (of, other) {
                    (Some(of), Some(other)) => self.objects(of, other),
                    (of, other) => of.is_some().cmp(&other.is_some()),
                };
                self.objects(object, lock).then_with(by_owner)
            }
            _ => {
                let kind = |node: LockNode| match node {
                    LockNode::Object(_) => 0,
                    LockNode::Part { .. } => 1,
                    LockNode::Class(_) => 2,
                    LockNode::Explicit { .. } => 3,
                };
                kind(a).cmp(&kind(b))
            }
        }
    }

    /// By where it is acquired; then by whatever else tells two locks apart.
    pub fn locks(&self, a: &HeldLock, b: &HeldLock) -> Ordering {
        let by_keys = || lists(&a.keys, &b.keys, |a, b| self.lock_keys(a, b));
        let by_objects = || lists(&a.objects, &b.objects, |&a, &b| self.objects(a, b));
        let by_nodes = || lists(&a.nodes, &b.nodes, |&a, &b| self.lock_nodes(a, b));
        self.acquired((a.act, a.stmt), (b.act, b.stmt))
            .then(a.shared.cmp(&b.shared))
            .then(a.kind.cmp(&b.kind))
            .then_with(by_keys)
            .then_with(by_objects)
            .then_with(by_nodes)
    }

    /// Where a lock is acquired; without a statement by a synchronized method.
    pub(crate) fn acquired(&self, a: (Act, Option<StmtId>), b: (Act, Option<StmtId>)) -> Ordering {
        let frame = |(act, stmt): (Act, Option<StmtId>)| (act, stmt.unwrap_or(StmtId(0)));
        self.frames(frame(a), frame(b)).then(a.1.cmp(&b.1))
    }

    pub(crate) fn lock_keys(&self, a: &LockKey, b: &LockKey) -> Ordering {
        let kind = |key: &LockKey| match key {
            LockKey::Unique(_) => 0,
            LockKey::Class(_) => 1,
            LockKey::Text(_) => 2,
            LockKey::Static { .. } => 3,
            LockKey::Path { .. } => 4,
            LockKey::UniqueExplicit(_) => 5,
        };
        match (a, b) {
            (LockKey::Unique(a), LockKey::Unique(b))
            | (LockKey::UniqueExplicit(a), LockKey::UniqueExplicit(b)) => self.objects(*a, *b),
            (LockKey::Class(a), LockKey::Class(b)) => self.classes(*a, *b),
            (LockKey::Text(a), LockKey::Text(b)) => self.names(*a, *b),
            (LockKey::Static { field, steps }, LockKey::Static { field: other, steps: others }) => {
                self.fields(*field, *other).then_with(|| self.paths(steps, others))
            }
            (LockKey::Path { root, steps }, LockKey::Path { root: other, steps: others }) => {
                root.cmp(other).then_with(|| self.paths(steps, others))
            }
            _ => kind(a).cmp(&kind(b)),
        }
    }

    fn paths(&self, a: &[PathStep], b: &[PathStep]) -> Ordering {
        let kind = |step: &PathStep| match step {
            PathStep::Field(_) => 0,
            PathStep::Capture(_) => 1,
            PathStep::Made(..) => 2,
            PathStep::Owner(_) => 3,
            PathStep::OwnerArray => 4,
            PathStep::Explicit => 5,
        };
        let steps = |a: &PathStep, b: &PathStep| match (a, b) {
            (PathStep::Field(a), PathStep::Field(b)) | (PathStep::Owner(a), PathStep::Owner(b)) => {
                self.fields(*a, *b)
            }
            (PathStep::Capture(a), PathStep::Capture(b)) => a.cmp(b),
            (PathStep::Made(a, var), PathStep::Made(b, other)) => {
                self.methods(*a, *b).then_with(|| var.cmp(other))
            }
            _ => kind(a).cmp(&kind(b)),
        };
        let differs = a.iter().zip(b).map(|(a, b)| steps(a, b)).find(|order| order.is_ne());
        differs.unwrap_or_else(|| a.len().cmp(&b.len()))
    }

    /// The shortest way first.
    pub(crate) fn nestings(&self, a: &Nesting, b: &Nesting) -> Ordering {
        let by_calls = || {
            let calls = a.calls.iter().zip(&b.calls);
            calls.map(|(&a, &b)| self.frames(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let by_wanted = || match (&a.wants, &b.wants) {
            (Wanted::Lock(a), Wanted::Lock(b)) => self.locks(a, b),
            (Wanted::Lock(_), Wanted::End(_)) => Ordering::Less,
            (Wanted::End(_), Wanted::Lock(_)) => Ordering::Greater,
            (Wanted::End(_), Wanted::End(_)) => Ordering::Equal,
        };
        let by_locks = || lists(&a.locks, &b.locks, |a, b| self.locks(a, b));
        (a.calls.len().cmp(&b.calls.len()))
            .then_with(|| self.acquired((a.act, a.stmt), (b.act, b.stmt)))
            .then_with(|| self.locks(&a.held, &b.held))
            .then_with(by_calls)
            .then_with(by_wanted)
            .then_with(by_locks)
    }
}

/// Compares what is in the lists, which are in any order.
fn lists<T: PartialEq>(a: &[T], b: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let sorted = |items: &[T]| -> Vec<usize> {
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by(|&one, &other| compare(&items[one], &items[other]));
        order
    };
    let pairs = sorted(a).into_iter().zip(sorted(b));
    let differs = pairs.map(|(one, other)| compare(&a[one], &b[other])).find(|order| order.is_ne());
    differs.unwrap_or_else(|| a.len().cmp(&b.len()))
}
