//! How sure a race is: what is assumed in its favour, each assumption with its words.

use crate::Stages;
use crate::access::{Access, Location, What};
use findings::Confidence;
use happens_before::{GuardReason, Protection};
use pointsto::{Context, Site};

/// A reason to believe a race a little less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The two accesses may be to different objects from one allocation site.
    ManyObjects,
    /// Array indices are not compared.
    Indices,
    /// Locks from one allocation site, or of the owner, are held on both sides.
    WeakLock(GuardReason),
    /// The object comes from code that was not analysed.
    Outside,
    /// Code of several threads is analysed together.
    MergedCode,
}

impl Doubt {
    fn limit(&self) -> Confidence {
        match self {
            Doubt::ManyObjects | Doubt::Indices => Confidence::Medium,
            Doubt::WeakLock(_) | Doubt::Outside | Doubt::MergedCode => Confidence::Low,
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Doubt::ManyObjects => {
                "several objects are allocated there; both threads may not meet on the same one".into()
            }
            Doubt::Indices => "array indices are not told apart".into(),
            Doubt::WeakLock(GuardReason::MaybeSameOwner) => {
                "both hold the lock of an object that refers to it".into()
            }
            Doubt::WeakLock(_) => "both hold locks from one allocation site, possibly the same one".into(),
            Doubt::Outside => "the object comes from code that is not analysed".into(),
            Doubt::MergedCode => "the code of several threads is analysed together here".into(),
        }
    }
}

pub(crate) fn of(doubts: &[Doubt]) -> Confidence {
    doubts.iter().map(Doubt::limit).max().unwrap_or(Confidence::High)
}

pub(crate) fn doubts(
    stages: &Stages<'_>,
    a: &Access,
    b: &Access,
    location: Location,
    protection: &Protection<'_>,
) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if let Some(obj) = location.obj {
        let object = stages.pointsto.object(obj);
        match object.site {
            Site::Opaque | Site::Merged => doubts.push(Doubt::Outside),
            _ if !stages.happens_before.unique(obj) => doubts.push(Doubt::ManyObjects),
            _ => {}
        }
        if let Context::Shared = stages.pointsto.context(object.ctx)
            && !stages.happens_before.unique(obj)
        {
            doubts.push(Doubt::MergedCode);
        }
    }
    if location.what == What::Elements && (a.index.is_none() || b.index.is_none()) {
        doubts.push(Doubt::Indices);
    }
    if let Protection::Weak(guard) = protection {
        doubts.push(Doubt::WeakLock(guard.why));
    }
    doubts
}
