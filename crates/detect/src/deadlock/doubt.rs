//! How sure a deadlock is: what is assumed in its favour, each assumption with its words.

use super::cycles::Side;
use super::lock_site;
use crate::Stages;
use crate::confidence::is_merged;
use findings::Confidence;
use happens_before::LockNode;

/// A call that may lead to more methods than this says little about any of them.
const MANY_CHOICES: usize = 8;

/// A reason to believe a deadlock a little less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// The threads may meet on different locks from one allocation site.
    ManyLocks,
    /// Parents before children, one node of a list after the other: an order that seldom turns around.
    Downwards,
    /// Code that is not analysed has to call back.
    CalledBack,
    /// One of the calls on the way may lead to many methods.
    ManyChoices,
    /// Code of several threads is analysed together.
    MergedCode,
    /// The wait gives up after a time.
    Timed,
    /// What is waited for may be another from the same place.
    OtherEnd,
}

impl Doubt {
    fn limit(self) -> Confidence {
        match self {
            Doubt::ManyLocks | Doubt::Timed | Doubt::OtherEnd => Confidence::Medium,
            Doubt::Downwards | Doubt::CalledBack | Doubt::ManyChoices | Doubt::MergedCode => Confidence::Low,
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Doubt::ManyLocks => {
                "several lock objects are allocated there; the threads may not meet on the same ones".into()
            }
            Doubt::Downwards => {
                "the second object is reached from the first, as a child from its parent".into()
            }
            Doubt::CalledBack => {
                "code that is not analysed is taken to call an object that was passed to it".into()
            }
            Doubt::ManyChoices => {
                "a call on the way may lead to many methods, and has to lead to this one".into()
            }
            Doubt::MergedCode => "the code of several threads is analysed together here".into(),
            Doubt::Timed => {
                "the wait gives up when its time is over: until then, both threads stand still".into()
            }
            Doubt::OtherEnd => {
                "what is waited for may be another thread or executor that was made in the same place".into()
            }
        }
    }
}

pub(crate) fn of(doubts: &[Doubt]) -> Confidence {
    doubts.iter().map(|doubt| doubt.limit()).max().unwrap_or(Confidence::High)
}

pub(crate) fn doubts(stages: &Stages<'_>, sides: &[Side<'_>]) -> Vec<Doubt> {
    let many = |node: LockNode| !stages.happens_before.is_one_lock(node);
    let is_one_kind = |side: &Side<'_>| lock_site(stages, side.from) == lock_site(stages, side.to);
    let downwards = |side: &Side<'_>| is_one_kind(side) && side.nesting.is_reached;
    let mut doubts = Vec::new();
    let mut doubt = |doubt: Doubt, applies: bool| doubts.extend(applies.then_some(doubt));
    doubt(Doubt::ManyLocks, sides.iter().any(|side| many(side.from)));
    doubt(Doubt::Downwards, sides.iter().any(downwards));
    doubt(Doubt::CalledBack, sides.iter().any(|side| side.nesting.called_back));
    doubt(Doubt::ManyChoices, sides.iter().any(|side| side.nesting.choices > MANY_CHOICES));
    doubt(Doubt::MergedCode, sides.iter().any(|side| is_in_merged_code(stages, side)));
    doubts
}

pub(crate) fn is_in_merged_code(stages: &Stages<'_>, side: &Side<'_>) -> bool {
    !stages.happens_before.is_one_lock(side.from) && is_merged(stages, side.nesting.act, side.origin)
}
