//! One subject with who signals and who awaits it: which signals are needed, and what has to be asked to know what
//! they order. Knows origins; reaches nothing itself.

use super::flags::{Flags, Scene};
use super::reaches::{Question, Side, Topic, Way};
use super::traffic::{Modelled, Traffic};
use super::{Subject, SubjectId, Subjects};
use crate::origins::Origins;
use crate::reach::{Kills, Start};
use crate::types::{Origin, OriginKind};
use crate::world::World;
use ir::{Const, StmtId, StmtKind};
use pointsto::{Act, Obj, Site};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Read, Sizes, note};

/// Subjects that order something.
pub struct Channels {
    channels: Memo<SubjectId, Channel>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Channel {
    /// Signalling origins without whose signal no await returns, with their signals.
    pub needed: BTreeMap<Origin, Vec<(Act, StmtId)>>,
    pub awaiting: BTreeSet<Origin>,
    awaits: Kills,
    /// Origins that start only after the signal.
    pub late: Vec<Origin>,
    /// Of those needed, who is blocked from each of its signals until the await returns.
    pub blocked: Vec<Origin>,
    /// Origins that run only while these are blocked.
    pub actions: Vec<Origin>,
}

impl Channels {
    pub fn new(follows: bool) -> Channels {
        Channels { channels: Memo::new(Kind::Channels, follows) }
    }

    /// True if one is another than before. `touched`: subjects with other traffic.
    pub fn update(
        &mut self,
        scene: &Scene<'_, '_>,
        subjects: &Subjects,
        flags: &Flags,
        modelled: &Modelled,
        mut touched: BTreeSet<SubjectId>,
        changes: &mut Changes,
    ) -> bool {
        touched.extend(self.channels.stale(changes));
        let touched: Vec<SubjectId> = touched.into_iter().collect();
        let differing = self.channels.update(&touched, changes, |id| {
            let traffic = match subjects[id] {
                Subject::Object(obj) => Cow::Borrowed(modelled.of(id, obj)?),
                Subject::Flag(_) => {
                    let flag = flags.of(id)?;
                    let signals = flag.set.iter().map(|place| (place.act, place.stmt)).collect();
                    Cow::Owned(Traffic { signals, awaits: flag.awaits.clone(), ..Traffic::default() })
                }
            };
            channel(scene, subjects[id], &traffic)
        });
        !differing.is_empty()
    }

    pub fn all(&self) -> BTreeMap<SubjectId, &Channel> {
        self.channels.iter().collect()
    }

    pub fn topics(&self) -> impl Iterator<Item = Topic> + '_ {
        let sides = |subject| [Side::After, Side::Before].map(|side| Topic { subject, side });
        self.channels.iter().flat_map(move |(subject, _)| sides(subject))
    }

    pub fn question(&self, origins: &Origins, topic: Topic) -> Option<Question> {
        let channel = self.channels.get(topic.subject)?;
        let way = |origin: Origin, starts: Vec<Start>| {
            let entry = origins.info[origin].entry;
            Way { origin, by: vec![origin], entry, starts }
        };
        match topic.side {
            Side::After => {
                let ways = channel.needed.iter().map(|(&origin, signals)| {
                    let starts = signals.iter().map(|&(act, stmt)| Start::After(act, stmt, None));
                    way(origin, starts.collect())
                });
                Some(Question { ways: ways.collect(), kills: Kills::default() })
            }
            Side::Before => {
                let ways = channel.awaiting.iter();
                let ways = ways.map(|&origin| way(origin, vec![Start::Entry(origins.info[origin].entry)]));
                Some(Question { ways: ways.collect(), kills: channel.awaits.clone() })
            }
            _ => None,
        }
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.channels.sizes(sizes);
    }
}

fn channel(scene: &Scene<'_, '_>, subject: Subject, traffic: &Traffic) -> Option<Channel> {
    if traffic.signals.is_empty() || traffic.awaits.is_empty() && traffic.late.is_empty() {
        return None;
    }
    note(Read::all(Kind::Origins));
    let origins = scene.origins;
    let mut needed: BTreeMap<Origin, Vec<(Act, StmtId)>> = BTreeMap::new();
    for &(act, stmt) in &traffic.signals {
        for &origin in origins.of(act) {
            needed.entry(origin).or_default().push((act, stmt));
        }
    }
    let of_need = of_need(scene, subject, traffic, &needed);
    needed.retain(|origin, _| of_need.contains(origin));
    if needed.is_empty() {
        return None;
    }
    let awaiting = (traffic.awaits.acts())
        .flat_map(|act| origins.of(act).iter().copied())
        .filter(|&origin| origins.info[origin].kind != OriginKind::Initialization)
        .collect();
    let is_blocked = |origin: &Origin| needed[origin].iter().all(|signal| traffic.blocks(signal));
    let blocked = needed.keys().copied().filter(is_blocked).collect();
    let (awaits, late, actions) = (traffic.awaits.clone(), traffic.late.clone(), traffic.actions.clone());
    Some(Channel { needed, awaiting, awaits, late, blocked, actions })
}

/// An await needs the signal of T if all others together cannot signal often enough. A latch or barrier made
/// with a constant counts exactly; one made with another number is taken to count everybody; anything else
/// needs one signal. Who waits at a barrier comes to it once in each of its rounds.
fn of_need(
    scene: &Scene<'_, '_>,
    subject: Subject,
    traffic: &Traffic,
    signalling: &BTreeMap<Origin, Vec<(Act, StmtId)>>,
) -> Vec<Origin> {
    let Scene { world, origins, guards } = *scene;
    let count = match subject {
        Subject::Object(obj) => made_with(world, obj),
        Subject::Flag(_) => Count::Exactly(1),
    };
    let often = |origin: Origin, stmts: &[(Act, StmtId)]| -> Option<u64> {
        let once = |&(act, stmt): &(Act, StmtId)| guards.unique.executes_once(world, act, stmt);
        let signals = match stmts.iter().all(|signal| traffic.blocks(signal)) {
            true => Some(1),
            false => stmts.iter().all(once).then_some(stmts.len() as u64),
        };
        note(Read::of(Kind::Once, origins.info[origin].entry));
        signals.filter(|_| origins.info[origin].runs_once)
    };
    let others = |origin: Origin| -> Option<u64> {
        note(Read::of(Kind::Once, origins.info[origin].entry));
        let own = if origins.info[origin].runs_once { Some(0) } else { None };
        let rest = signalling.iter().filter(|&(&other, _)| other != origin);
        rest.map(|(&other, stmts)| often(other, stmts)).chain([own]).sum()
    };
    let is_needed = |origin: Origin| match count {
        Count::Everybody => true,
        Count::Exactly(count) => {
            others(origin).is_some_and(|others| others < count)
            // As many signals as instances: a pool of workers that each count down once.
            || count > 1 && !origins.info[origin].runs_once && signalling.len() == 1
        }
    };
    signalling
        .keys()
        .copied()
        .filter(|&origin| origins.info[origin].kind != OriginKind::Initialization && is_needed(origin))
        .collect()
}

#[derive(Clone, Copy)]
enum Count {
    Exactly(u64),
    Everybody,
}

/// The number a latch or barrier was made with.
fn made_with(world: &World<'_>, obj: Obj) -> Count {
    if world.permits(obj).is_some() {
        return Count::Exactly(1);
    }
    let Site::Alloc(method, stmt) = world.pointsto.object(obj).site else { return Count::Exactly(1) };
    let Some(flow) = world.method_flow(method) else { return Count::Exactly(1) };
    let StmtKind::New { dst, .. } = flow.body.stmts[stmt].kind else { return Count::Exactly(1) };
    let Some(call) = flow.constructor(dst) else { return Count::Exactly(1) };
    let StmtKind::Call { args, .. } = &flow.body.stmts[call].kind else { return Count::Exactly(1) };
    let number = args.iter().skip(1).copied().find(|&arg| !flow.body.vars[arg].is_ref);
    let Some(number) = number else { return Count::Exactly(1) };
    match flow.definition(flow.source(number)) {
        Some((_, StmtKind::Const { value: Const::Int(count), .. })) => Count::Exactly(*count as u64),
        _ => Count::Everybody,
    }
}
