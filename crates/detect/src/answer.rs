//! What the verdicts on pairs of statements mean for a claim that was made without knowing them: two places in source
//! and the memory they touch. Judges nothing anew.

use crate::access::{AccessId, What};
use crate::memory::TouchId;
use crate::pair::Pair;
use crate::verdict::Verdict;
use crate::{Detect, Stages};
use classfile::Layer;
use findings::{Confidence, Dismissed, Place};
use happens_before::Origin;
use ir::{ClassId, MethodId, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The memory that a claim is about, as it is named across engines.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory<'a> {
    /// `bank.Account.balance`.
    Field(&'a str),
    /// The elements of some array, known by the places that touch them.
    Elements,
    /// What some library container holds, known likewise.
    Contents,
}

/// What the program says about two places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Entry points do not lead to both of them.
    Unreached,
    /// How sure it is, and the most that its doubts allow.
    Race(Sureness),
    Dismissed(Dismissed),
}

/// The surer, the less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sureness {
    pub confidence: Confidence,
    pub limit: Confidence,
}

/// Verdicts by memory and place, for the memory and the files they were made for.
pub struct Answers<'a> {
    detect: &'a Detect,
    statements: FxHashMap<Memory<'a>, FxHashMap<Place, Vec<TouchId>>>,
}

impl Detect {
    /// What is known of accesses to this memory in these files.
    pub fn answers<'a>(
        &'a self,
        stages: &Stages<'_>,
        memory: &FxHashSet<Memory<'a>>,
        files: &FxHashSet<&str>,
    ) -> Answers<'a> {
        let mut found = Statements { stages, files, classes: FxHashMap::default() };
        let mut statements: FxHashMap<Memory<'a>, FxHashMap<Place, Vec<TouchId>>> = FxHashMap::default();
        let fields: FxHashMap<&str, &Memory<'a>> = memory
            .iter()
            .filter_map(|asked| match asked {
                Memory::Field(name) => Some((*name, asked)),
                Memory::Elements | Memory::Contents => None,
            })
            .collect();
        for kind in self.memory.kinds_of_memory() {
            let asked = match self.memory.key(kind).0 {
                What::Field(field) | What::Static(field) => {
                    let name = stages.program.field_display(field);
                    fields.get(name.as_str()).map(|asked| (*asked).clone())
                }
                What::Elements => Some(Memory::Elements).filter(|asked| memory.contains(asked)),
                What::Contents => Some(Memory::Contents).filter(|asked| memory.contains(asked)),
            };
            let Some(asked) = asked else { continue };
            for &touch in self.memory.touches_of(kind) {
                if let Some(place) = found.place(self.memory.statement(touch)) {
                    statements.entry(asked.clone()).or_default().entry(place).or_default().push(touch);
                }
            }
        }
        Answers { detect: self, statements }
    }

    /// Why two statements that were never judged do not meet: one thread alone, an object that is not published yet, or
    /// different objects.
    fn never_met(&self, pair: Pair) -> Dismissed {
        if [pair.0, pair.1].iter().any(|&touch| self.memory.places(touch).is_empty()) {
            return Dismissed::Unpublished;
        }
        let origins = |touch: TouchId| -> BTreeSet<Origin> {
            let accesses = self.memory.places(touch).iter().flat_map(|(_, accesses)| accesses);
            accesses
                .flat_map(|access: &AccessId| self.accesses.of(access.act).origins.iter().copied())
                .collect()
        };
        let (one, other) = (origins(pair.0), origins(pair.1));
        match one.len() == 1 && one == other {
            true => Dismissed::SingleThread,
            false => Dismissed::DifferentObjects,
        }
    }

    /// The answer for statements, some of which may be one and the same.
    pub(crate) fn answer(&self, pairs: impl IntoIterator<Item = Pair>) -> Option<Answer> {
        let mut strongest: Option<Dismissed> = None;
        let mut surest: Option<Sureness> = None;
        for pair in pairs.into_iter().filter(|pair| self.writes(pair.0) || self.writes(pair.1)) {
            match self.races.verdict(pair) {
                Some(Verdict::Race(witness)) => {
                    let sure = Sureness { confidence: witness.confidence, limit: witness.doubts.limit() };
                    surest = Some(surest.map_or(sure, |known| known.min(sure)));
                }
                Some(Verdict::Dismissed(why)) => strongest = strongest.max(Some(*why)),
                None => strongest = strongest.max(Some(self.never_met(pair))),
            }
        }
        surest.map(Answer::Race).or(strongest.map(Answer::Dismissed))
    }

    fn writes(&self, touch: TouchId) -> bool {
        let mut accesses = self.memory.places(touch).iter().flat_map(|(_, accesses)| accesses);
        accesses.any(|&access| self.accesses.get(access).write) || self.memory.writes_in_private(touch)
    }
}

impl Answers<'_> {
    /// What keeps two places from racing, wherever they are reached; or that nothing does.
    pub fn of(&self, memory: &Memory<'_>, sides: [&Place; 2]) -> Answer {
        let Some(places) = self.statements.get(memory) else { return Answer::Unreached };
        let [first, second] = sides.map(|place| places.get(place).map_or(&[][..], Vec::as_slice));
        let pairs = first.iter().flat_map(|&one| second.iter().map(move |&other| Pair::of(one, other)));
        self.detect.answer(pairs).unwrap_or(Answer::Unreached)
    }
}

/// Where statements are, as far as that is in one of these files.
struct Statements<'a> {
    stages: &'a Stages<'a>,
    files: &'a FxHashSet<&'a str>,
    /// The file of each class that was asked about, if it is one of these.
    classes: FxHashMap<ClassId, Option<String>>,
}

impl Statements<'_> {
    fn place(&mut self, (method, stmt): (MethodId, StmtId)) -> Option<Place> {
        let program = self.stages.program;
        let class = program.method_ref(method).class;
        let file = self.classes.entry(class).or_insert_with(|| {
            let is_users = program.class(class).layer != Layer::Jdk;
            Some(program.class_file(class)).filter(|file| is_users && self.files.contains(file.as_str()))
        });
        let line = program.lowered(method)?.stmts.get(stmt)?.line;
        Some(Place { file: file.clone()?, line })
    }
}
