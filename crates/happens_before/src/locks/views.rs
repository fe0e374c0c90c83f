//! Objects that stand for other locks, and the objects of classes; kept up to date. Knows no holder.

use crate::world::World;
use arena::IdSet;
use ir::ClassId;
use models::{Operand, Root, Step};
use pointsto::{Act, Obj, Object, PointsToDelta, Site};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use track::{Changes, Kind, Read, note};

/// What objects stand for, in shared mode or not; `None` if sometimes.
type Viewed = FxHashMap<Obj, (IdSet<Obj>, Option<bool>)>;

#[derive(Debug, Default)]
pub struct Views {
    /// Activations that make views.
    making: BTreeSet<Act>,
    viewed: Viewed,
    literals: FxHashMap<ClassId, Obj>,
}

impl Views {
    pub fn update(&mut self, world: &World<'_>, delta: &PointsToDelta, changes: &mut Changes) {
        let makes = |act: Act| world.sync(act).iter().any(|(_, step)| matches!(step, Step::View { .. }));
        if changes.everything {
            self.making = world.syncing().filter(|&act| makes(act)).collect();
        }
        let edited = delta.bodies.iter().flat_map(|&method| world.acts_of(method));
        for &act in edited.chain(&delta.models).chain(&delta.acts.added).chain(&delta.acts.removed) {
            if world.pointsto.runs(act) && makes(act) {
                self.making.insert(act);
            } else {
                self.making.remove(&act);
            }
        }
        let viewed = self.find(world);
        if self.viewed != viewed {
            self.viewed = viewed;
            changes.add(Read::all(Kind::Views));
        }
        let arena::Delta { added, removed } = &delta.objects;
        if changes.everything || !added.is_empty() || !removed.is_empty() {
            let literal = |obj: Obj| match world.pointsto.object(obj) {
                &Object { site: Site::Literal(class), .. } => Some((class, obj)),
                _ => None,
            };
            let literals = world.pointsto.objects().filter_map(literal).collect();
            if self.literals != literals {
                self.literals = literals;
                changes.add(Read::all(Kind::Literals));
            }
        }
    }

    pub fn of(&self, obj: Obj) -> Option<&(IdSet<Obj>, Option<bool>)> {
        note(Read::all(Kind::Views));
        self.viewed.get(&obj)
    }

    /// The object of a class, if anybody mentions it.
    pub fn literal(&self, class: ClassId) -> Option<Obj> {
        note(Read::all(Kind::Literals));
        self.literals.get(&class).copied()
    }

    fn find(&self, world: &World<'_>) -> Viewed {
        let mut views = Viewed::default();
        let ret = Operand { root: Root::Ret, path: Vec::new() };
        for &act in &self.making {
            for &(stmt, step) in world.sync(act) {
                let Step::View { of, shared } = step else { continue };
                let viewed = world.operand(act, stmt, of);
                for view in world.operand(act, stmt, &ret).iter() {
                    if viewed.contains(view) {
                        continue;
                    }
                    let known = views.entry(view).or_insert_with(|| (IdSet::new(), Some(*shared)));
                    known.0.union_with(&viewed);
                    if known.1 != Some(*shared) {
                        known.1 = None;
                    }
                }
            }
        }
        // A view of a view is a view of what that stands for.
        for _ in 0..2 {
            let known = views.clone();
            for (viewed, _) in views.values_mut() {
                let inner =
                    |obj: Obj| known.get(&obj).map_or_else(|| vec![obj], |(of, _)| of.iter().collect());
                *viewed = viewed.iter().flat_map(inner).collect();
            }
        }
        views
    }
}
