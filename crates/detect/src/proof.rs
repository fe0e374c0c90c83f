//! Why two accesses to a field never race in this program, as far as it is known from its entry points: they are in the
//! way of a claim that was made without knowing them. Judges nothing anew.

use crate::access::What;
use crate::memory::TouchId;
use crate::pair::{Pair, Stage};
use crate::{Detect, Stages};
use classfile::Layer;
use findings::Place;
use happens_before::Origin;
use ir::FieldId;
use rustc_hash::{FxHashMap, FxHashSet};

/// What keeps two accesses apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// Threads that run them never meet on one object.
    Apart,
    /// They never run at the same time.
    Ordered,
    /// Both hold the same lock.
    Locked,
}

impl Proof {
    pub fn text(self) -> &'static str {
        match self {
            Proof::Apart => "the threads of this program that get there never have the same object",
            Proof::Ordered => "in this program one is always over before the other begins",
            Proof::Locked => "in this program both always hold the same lock",
        }
    }
}

/// Answers for the fields it was made for.
pub struct Proofs<'a> {
    detect: &'a Detect,
    /// By field and place.
    touches: FxHashMap<(String, Place), Vec<TouchId>>,
}

impl Detect {
    /// What is known of accesses to these fields.
    pub fn proofs<'a>(&'a self, stages: &Stages<'_>, fields: &FxHashSet<&str>) -> Proofs<'a> {
        let mut names: FxHashMap<FieldId, Option<String>> = FxHashMap::default();
        let mut touches: FxHashMap<(String, Place), Vec<TouchId>> = FxHashMap::default();
        for touch in self.memory.touches() {
            let (What::Field(field) | What::Static(field)) = self.memory.what(touch) else { continue };
            let name = names.entry(field).or_insert_with(|| {
                Some(stages.program.field_display(field)).filter(|name| fields.contains(name.as_str()))
            });
            let (Some(name), (method, stmt)) = (name, self.memory.statement(touch)) else { continue };
            let class = stages.program.method_ref(method).class;
            let body = stages.program.lowered(method);
            if stages.program.class(class).layer != Layer::Jdk
                && let Some(stmt) = body.and_then(|body| body.stmts.get(stmt))
            {
                let place = Place { file: stages.program.class_file(class), line: stmt.line };
                touches.entry((name.clone(), place)).or_default().push(touch);
            }
        }
        Proofs { detect: self, touches }
    }
}

impl Proofs<'_> {
    /// What keeps two accesses to a field apart, wherever they happen. `None` if something does not, or if the program
    /// does not get there.
    pub fn of(&self, field: &str, sides: [&Place; 2]) -> Option<Proof> {
        let [first, second] = sides
            .map(|place| self.touches.get(&(field.to_owned(), place.clone())).map_or(&[][..], Vec::as_slice));
        let pairs = first.iter().flat_map(|&one| second.iter().map(move |&other| Pair::of(one, other)));
        let mut weakest = None;
        for pair in pairs.filter(|pair| self.writes(pair.0) || self.writes(pair.1)) {
            let proof = self.of_pair(pair)?;
            weakest = Some(weakest.map_or(proof, |known: Proof| known.min(proof)));
        }
        weakest
    }

    fn of_pair(&self, pair: Pair) -> Option<Proof> {
        match self.detect.races.stage(pair) {
            Some(Stage::Unlocked) => None,
            Some(Stage::Overlapping) => Some(Proof::Locked),
            Some(Stage::TwoOrigins) => Some(Proof::Ordered),
            // One thread alone says nothing about what others would do with the code.
            Some(Stage::SameObject) | None => self.is_run_by_several(pair).then_some(Proof::Apart),
        }
    }

    fn writes(&self, touch: TouchId) -> bool {
        let mut accesses = self.detect.memory.places(touch).iter().flat_map(|(_, accesses)| accesses);
        accesses.any(|&access| self.detect.accesses.get(access).write)
    }

    fn is_run_by_several(&self, pair: Pair) -> bool {
        let origins = |touch: TouchId| -> FxHashSet<Origin> {
            let accesses = self.detect.memory.places(touch).iter().flat_map(|(_, accesses)| accesses);
            accesses.flat_map(|access| self.detect.accesses.of(access.act).origins.iter().copied()).collect()
        };
        origins(pair.0).len() > 1 && origins(pair.1).len() > 1
    }
}
