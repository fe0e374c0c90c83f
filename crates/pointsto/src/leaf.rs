//! What is derived and derives nothing, as the queries tell it: callers and callees, spawns, models at statements,
//! entry points. Brought up to date one by one, put in order when the state comes to rest.

use crate::graph::CallId;
use crate::rule::Leaf;
use crate::state::{Call, Placed, PointsTo};
use crate::types::*;

impl PointsTo {
    pub(crate) fn leaf_changed(&mut self, leaf: Leaf, comes: bool) {
        match leaf {
            Leaf::Calls(place, callee) => {
                let Placed { act, stmt, .. } = self.places[place];
                self.touch_calls(act, callee);
                self.callees[act].change(stmt, callee, comes);
                change(&mut self.callers[callee], (act, stmt), comes);
            }
            Leaf::Expands(place, at) => {
                change(&mut self.places[place].expanded, at, comes);
                self.touched.places.insert(place);
            }
            Leaf::Spawns { at, model, step, task, entry } => {
                change(&mut self.spawn_places, (at, model, step, task, entry), comes);
                self.touched.spawns = true;
            }
            Leaf::Initializer(act) => {
                change(&mut self.initializers, act, comes);
                self.touched.entries = true;
            }
            Leaf::Entry(act) => {
                change(&mut self.entries, act, comes);
                self.touched.entries = true;
            }
            Leaf::Locks(obj) => {
                if !self.touched.locked.insert(obj) {
                    self.touched.locked.remove(&obj);
                }
            }
            Leaf::CalledBack(place, obj) => {
                change(&mut self.called_back, (place, obj), comes);
                self.touched.called_back = true;
            }
            Leaf::Opaque(..)
            | Leaf::Native(_)
            | Leaf::Reflective(_)
            | Leaf::Dynamic(_)
            | Leaf::Unresolved(_) => {
                if comes {
                    self.gaps.insert(leaf);
                } else {
                    self.gaps.remove(&leaf);
                }
            }
        }
    }

    /// Remembers who called whom before that changes.
    pub(crate) fn touch_calls(&mut self, act: Act, callee: Act) {
        self.touched.callees.entry(act).or_insert_with(|| self.callees[act].clone());
        self.touched.callers.entry(callee).or_insert_with(|| self.callers[callee].clone());
    }

    /// Sorts what the queries promise sorted.
    pub(crate) fn rest(&mut self) {
        for &act in self.touched.callees.keys() {
            self.callees[act].sort();
        }
        for &act in self.touched.callers.keys() {
            self.callers[act].sort_unstable();
        }
        for &place in &self.touched.places {
            let Placed { expanded, models, .. } = &mut self.places[place];
            expanded.sort_unstable_by_key(|at| (at.model, at.call));
            *models = expanded.iter().map(|at| at.model).collect();
            models.dedup();
        }
        if self.touched.entries {
            self.initializers.sort_unstable();
            self.entries.sort_unstable();
        }
        if self.touched.spawns {
            let spawns = self.spawn_places.iter().map(|&(at, model, step, task, entry)| {
                let Placed { act: from, stmt, .. } = self.places[at];
                SpawnEdge { from, stmt, model, step, task, entry }
            });
            let spawns = spawns.collect();
            self.touched.spawns_before = Some(std::mem::replace(&mut self.spawns, spawns));
            self.spawns.sort_unstable();
        }
    }

    pub(crate) fn new_call(&mut self, call: Call) -> CallId {
        match self.free_calls.pop() {
            Some(id) => {
                self.calls[id] = call;
                id
            }
            None => self.calls.push(call),
        }
    }
}

fn change<T: PartialEq>(list: &mut Vec<T>, item: T, comes: bool) {
    if comes {
        list.push(item);
    } else if let Some(at) = list.iter().rposition(|other| *other == item) {
        list.swap_remove(at);
    }
}
