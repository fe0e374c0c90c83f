//! Questions that many pairs ask about the code around them, each answered once. Knows who answers, and nothing of why
//! they are asked.

use crate::Stages;
use crate::anchor::{Anchor, Brings, Climbed, bringing, climb};
use crate::confidence::allocated_only_by;
use crate::dealt;
use crate::describe::Describe;
use crate::own::{Known, Own, is_fetched};
use crate::steps::Steps;
use happens_before::Origin;
use ir::Var;
use pointsto::{Act, Obj};
use std::sync::Arc;
use track::{Asked, Changes, Kind, Read, Sizes};

/// Who runs an activation, with a number for the locks its callers hold then.
pub(crate) type Comers = Arc<[(Origin, u32)]>;

pub(crate) struct Questions {
    comers: Asked<Act, Comers>,
    pub(crate) steps: Steps,
    /// Many call the same, and few of them pass the same object: most edits of callers change nothing about that.
    bringing: Brings,
    anchors: Asked<Climbed, Arc<[Anchor]>>,
    own: Asked<(Origin, Known), bool>,
    /// Step by step: most edits along a way leave the steps as they are.
    sources: Asked<(Origin, Known), Option<Arc<[Known]>>>,
    fetched: Asked<(Origin, Known), bool>,
    dealt: Asked<(Origin, Obj), bool>,
    makers: Asked<(Origin, Obj), bool>,
}

impl Questions {
    pub(crate) fn new(follows: bool) -> Questions {
        Questions {
            comers: Asked::new(Kind::Comers, follows),
            steps: Steps::new(follows),
            bringing: Asked::new(Kind::Bringing, follows),
            anchors: Asked::new(Kind::Anchors, follows),
            own: Asked::new(Kind::Own, follows),
            sources: Asked::new(Kind::Sources, follows),
            fetched: Asked::new(Kind::Fetched, follows),
            dealt: Asked::new(Kind::Dealt, follows),
            makers: Asked::new(Kind::Makers, follows),
        }
    }

    /// `is_read`: whether a pair was judged by an answer.
    pub(crate) fn update(
        &mut self,
        stages: &Stages<'_>,
        describe: &Describe<'_>,
        is_read: impl Fn(Read) -> bool,
        changes: &mut Changes,
    ) {
        let own = Own { stages };
        self.comers.forget_unread(changes, &is_read);
        self.comers.refresh(changes, |&act| comers(stages, act));
        let is_climbed = |read| self.anchors.reads(read);
        self.bringing.refresh_read(changes, is_climbed, |&passed| bringing(stages, describe, passed));
        self.steps.update(stages, &describe.content, |read| is_climbed(read) || is_read(read), changes);
        let known = (&self.steps, &self.bringing);
        self.anchors.refresh_read(changes, &is_read, |climbed| {
            let value = || known.0.value(stages, climbed.act, climbed.base);
            if stages.pointsto.runs(climbed.act) && value().is_some() {
                climb(stages, describe, known, climbed)
            } else {
                [].into()
            }
        });
        self.own.refresh_read(changes, &is_read, |&(origin, known)| {
            is_there(stages, known.0, known.1) && own.is_own(origin, known)
        });
        let is_fetched_by = |read| self.fetched.reads(read);
        self.sources.refresh_read(changes, is_fetched_by, |&(origin, known)| {
            match is_there(stages, known.0, known.1) {
                true => own.not_fetched(origin, known),
                false => None,
            }
        });
        let sources = |origin, known| self.sources.ask(&(origin, known), || own.not_fetched(origin, known));
        self.fetched.refresh_read(changes, &is_read, |&(origin, known)| {
            is_fetched(known, |known| sources(origin, known))
        });
        self.dealt.refresh_read(changes, &is_read, |&(origin, obj)| dealt::is_dealt(stages, origin, obj));
        self.makers.refresh_read(changes, &is_read, |&(origin, obj)| allocated_only_by(stages, origin, obj));
    }

    pub(crate) fn comers(&self, stages: &Stages<'_>, act: Act) -> Comers {
        self.comers.ask(&act, || comers(stages, act))
    }

    /// All ways the object may be what the variable refers to at the access; none means it cannot.
    pub(crate) fn anchors(
        &self,
        stages: &Stages<'_>,
        describe: &Describe<'_>,
        climbed: Climbed,
    ) -> Arc<[Anchor]> {
        self.anchors.ask(&climbed, || climb(stages, describe, (&self.steps, &self.bringing), &climbed))
    }

    /// Is what the variable refers to the origin's own task, or a part of it?
    pub(crate) fn is_own(&self, stages: &Stages<'_>, origin: Origin, known: Known) -> bool {
        let own = Own { stages };
        own.may_be_own(origin) && self.own.ask(&(origin, known), || own.is_own(origin, known))
    }

    /// May the origin have loaded the object where all its instances look?
    pub(crate) fn is_fetched(&self, stages: &Stages<'_>, origin: Origin, known: Known) -> bool {
        let own = Own { stages };
        let sources = |known| self.sources.ask(&(origin, known), || own.not_fetched(origin, known));
        self.fetched.ask(&(origin, known), || is_fetched(known, sources))
    }

    /// Is the origin the only one that may make the object?
    pub(crate) fn is_only_maker(&self, stages: &Stages<'_>, origin: Origin, obj: Obj) -> bool {
        self.makers.ask(&(origin, obj), || allocated_only_by(stages, origin, obj))
    }

    /// Does the origin have the object from its task only, on all these ways, and each task another one?
    pub(crate) fn is_dealt<'w>(
        &self,
        stages: &Stages<'_>,
        origin: Origin,
        obj: Obj,
        ways: impl Iterator<Item = &'w Anchor>,
    ) -> bool {
        dealt::are_from_task(stages, origin, ways)
            && self.dealt.ask(&(origin, obj), || dealt::is_dealt(stages, origin, obj))
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.comers.sizes(sizes);
        self.bringing.sizes(sizes);
        self.anchors.sizes(sizes);
        self.own.sizes(sizes);
        self.sources.sizes(sizes);
        self.fetched.sizes(sizes);
        self.dealt.sizes(sizes);
        self.makers.sizes(sizes);
    }
}

/// Questions outlive what they were about; then nobody asks them any more.
pub(crate) fn is_there(stages: &Stages<'_>, act: Act, var: Var) -> bool {
    let body = stages.program.lowered(stages.pointsto.method(act));
    stages.pointsto.runs(act) && body.is_some_and(|body| body.vars.get(var).is_some())
}

fn comers(stages: &Stages<'_>, act: Act) -> Comers {
    let hb = stages.happens_before;
    let mut origins = hb.origins_of(act).to_vec();
    origins.sort_unstable_by_key(|&origin| hb.rank(origin));
    origins.into_iter().map(|origin| (origin, hb.held_by_callers(origin, act))).collect()
}
