//! Who signals and awaits what, by the models of the calls. Knows models and spawns; whether that orders anything is
//! not decided here.

use super::flags::Scene;
use super::{Subject, SubjectId, Subjects};
use crate::branches::waited;
use crate::reach::Kills;
use crate::types::Origin;
use crate::world::Permits;
use ir::StmtId;
use models::Step;
use pointsto::{Act, Obj};
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Read, Single, note};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    pub signals: Vec<(Act, StmtId)>,
    pub awaits: Kills,
    /// Origins that start only after the signal.
    pub late: Vec<Origin>,
    /// Of these, those that whoever signals waits for: they run while everybody is blocked.
    pub actions: Vec<Origin>,
}

impl Traffic {
    /// Does who signals there go on only after everybody has?
    pub fn blocks(&self, signal: &(Act, StmtId)) -> bool {
        self.awaits.stmts.binary_search(signal).is_ok()
    }
}

/// Latches, barriers, semaphores.
#[derive(Default)]
pub struct Modelled {
    traffic: Single<BTreeMap<Obj, Traffic>>,
}

impl Modelled {
    /// Tells whose traffic is another.
    pub fn update(
        &mut self,
        follows: bool,
        scene: &Scene<'_, '_>,
        subjects: &mut Subjects,
        changes: &mut Changes,
    ) -> Vec<SubjectId> {
        let Some(before) = self.traffic.update(follows, changes, || find(scene)) else { return Vec::new() };
        let now = &self.traffic.value;
        let objects: BTreeSet<&Obj> = before.keys().chain(now.keys()).collect();
        let differing = objects.into_iter().filter(|obj| before.get(obj) != now.get(obj));
        let differing: Vec<SubjectId> = differing.map(|&obj| subjects.intern(Subject::Object(obj))).collect();
        differing.iter().for_each(|&subject| changes.add(Read::of(Kind::Traffic, subject)));
        differing
    }

    pub fn of(&self, subject: SubjectId, obj: Obj) -> Option<&Traffic> {
        note(Read::of(Kind::Traffic, subject));
        self.traffic.value.get(&obj)
    }
}

fn find(scene: &Scene<'_, '_>) -> BTreeMap<Obj, Traffic> {
    let mut traffic = BTreeMap::new();
    find_modelled(scene, &mut traffic);
    find_late(scene, &mut traffic);
    traffic
}

fn find_modelled(scene: &Scene<'_, '_>, traffic: &mut BTreeMap<Obj, Traffic>) {
    let (world, unique) = (scene.world, scene.guards.unique);
    for act in world.syncing() {
        for &(stmt, step) in world.sync(act) {
            match step {
                Step::Signal { on } => {
                    for obj in world.operand(act, stmt, on).iter() {
                        traffic.entry(obj).or_default().signals.push((act, stmt));
                    }
                }
                Step::Await { on, when } => {
                    if let Some(obj) = world.operand(act, stmt, on).single()
                        && unique.contains(obj)
                        && world.permits(obj).is_none_or(|permits| permits == Permits::Order)
                        && let Some(flow) = world.flow(act)
                    {
                        let waited = waited(flow, act, stmt, *when);
                        traffic.entry(obj).or_default().awaits.add(&waited);
                    }
                }
                _ => {}
            }
        }
    }
    for traffic in traffic.values_mut() {
        traffic.awaits.sort();
    }
}

/// Continuations: every spawn of the origin waits for a signal on this one object.
fn find_late(scene: &Scene<'_, '_>, traffic: &mut BTreeMap<Obj, Traffic>) {
    note(Read::all(Kind::Origins));
    let (origins, unique) = (scene.origins, scene.guards.unique);
    for origin in origins.info.ids() {
        let Some((&first, rest)) = origins.sites_of[origin].split_first() else { continue };
        for after in &origins.sites[first].after {
            if let Some(obj) = after.single()
                && unique.contains(obj)
                && rest.iter().all(|&at| origins.sites[at].after.contains(after))
            {
                let traffic = traffic.entry(obj).or_default();
                traffic.late.push(origin);
                let is_action = |&at: &usize| {
                    let site = &origins.sites[at];
                    let signal = (site.act, site.stmt);
                    site.waits && traffic.signals.contains(&signal) && traffic.blocks(&signal)
                };
                if origins.sites_of[origin].iter().all(is_action) {
                    traffic.actions.push(origin);
                }
            }
        }
    }
}
