//! A number for the whole solved state, by content: equal for equal states, whatever ids were handed out on the way.

use crate::state::PointsTo;
use crate::types::*;
use arena::{Id, IdSet};
use ir::{MethodId, Program, StmtId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// How much there is of everything, and a hash of all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest {
    pub acts: u64,
    pub facts: u64,
    pub calls: u64,
    pub spawns: u64,
    pub models: u64,
    pub hash: u64,
}

impl PointsTo {
    /// Numbers for activations and objects by content.
    pub fn contents<'a>(&'a self, program: &'a Program) -> Contents<'a> {
        Contents { state: self, program, objects: FxHashMap::default(), contexts: FxHashMap::default() }
    }

    pub fn digest(&self, program: &Program) -> Digest {
        let mut content = self.contents(program);
        let mut digest = Digest { spawns: self.spawns.len() as u64, ..Digest::default() };
        for act in self.acts() {
            digest.acts += 1;
            let own = content.act(act);
            digest.add(&own);
            if let Some(body) = &self.frames[act].shape.body {
                for (var, info) in body.vars.iter().filter(|(_, info)| info.is_ref) {
                    let held = self.pts(act, var);
                    let place = match info.def {
                        Some(def) => (0, body.stmts.rank(def)),
                        None => (1, body.params.iter().position(|&param| param == var).unwrap_or(usize::MAX)),
                    };
                    digest.facts += held.len() as u64;
                    digest.add(&(own, place, content.set(held)));
                }
                for (at, stmt) in body.stmts.ids().enumerate() {
                    for model in self.models_at(act, stmt) {
                        digest.models += 1;
                        digest.add(&(own, at, model));
                    }
                }
            }
            for (stmt, callee) in self.calls(act) {
                digest.calls += 1;
                digest.add(&(own, content.at(self.method(act), stmt), content.act(callee)));
            }
        }
        for (slot, held) in self.slots() {
            digest.facts += held.len() as u64;
            let slot = match slot {
                Slot::Field(obj, field) => (0, content.obj(obj), field.0),
                Slot::Elements(obj) => (1, content.obj(obj), 0),
                Slot::Static(field) => (2, 0, field.0),
            };
            digest.add(&(slot, content.set(held)));
        }
        for spawn in &self.spawns {
            let ends = (content.act(spawn.from), content.obj(spawn.task), content.act(spawn.entry));
            let at = content.at(self.method(spawn.from), spawn.stmt);
            digest.add(&(ends, at, spawn.model, spawn.step));
        }
        for &act in self.entries.iter().chain(&self.initializers) {
            digest.add(&(3, content.act(act)));
        }
        digest
    }
}

impl Digest {
    /// A sum does not depend on the order.
    fn add(&mut self, item: &impl Hash) {
        self.hash = self.hash.wrapping_add(hash(item));
    }
}

/// A hash that may be summed up.
pub fn hash(item: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    // One more round, because sums of plain products of what is hashed may cancel out.
    let hash = hasher.finish();
    (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Hashes of structures, each worked out once.
pub struct Contents<'a> {
    state: &'a PointsTo,
    program: &'a Program,
    objects: FxHashMap<Obj, u64>,
    contexts: FxHashMap<Ctx, u64>,
}

impl Contents<'_> {
    pub fn act(&mut self, act: Act) -> u64 {
        let Activation { ctx, method } = self.state.acts[act];
        hash(&(self.ctx(ctx), method))
    }

    pub fn obj(&mut self, obj: Obj) -> u64 {
        if let Some(&known) = self.objects.get(&obj) {
            return known;
        }
        let Object { site, ctx, class } = self.state.objects[obj];
        let site = match site {
            Site::Alloc(method, stmt) => Site::Alloc(method, self.at(method, stmt)),
            Site::Model(method, stmt, step) => Site::Model(method, self.at(method, stmt), step),
            site => site,
        };
        let content = hash(&(site, self.ctx(ctx), class));
        self.objects.insert(obj, content);
        content
    }

    fn ctx(&mut self, ctx: Ctx) -> u64 {
        if let Some(&known) = self.contexts.get(&ctx) {
            return known;
        }
        let content = match self.state.contexts[ctx] {
            plain @ (Context::Shared | Context::Entry | Context::Main(_)) => hash(&plain),
            Context::Origin(obj) => hash(&(1, self.obj(obj))),
            Context::Made(obj) => hash(&(2, self.obj(obj))),
            Context::Container(obj) => hash(&(3, self.obj(obj))),
            Context::Call(outer, method, stmt) => hash(&(4, self.ctx(outer), method, self.at(method, stmt))),
            Context::Inherited(outer, class) => hash(&(5, self.ctx(outer), class)),
            Context::Helper(outer, method, stmt) => {
                hash(&(6, self.ctx(outer), method, self.at(method, stmt)))
            }
        };
        self.contexts.insert(ctx, content);
        content
    }

    /// Where a statement stands, whatever its number: how many come before it.
    pub fn at(&self, method: MethodId, stmt: StmtId) -> StmtId {
        self.program.lowered(method).map_or(stmt, |body| StmtId::new(body.stmts.rank(stmt)))
    }

    pub fn set(&mut self, set: &IdSet<Obj>) -> u64 {
        set.iter().fold(0u64, |sum, obj| sum.wrapping_add(hash(&self.obj(obj))))
    }
}
