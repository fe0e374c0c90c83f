//! What the verdicts on pairs of statements mean for a claim that was made without knowing them: two places in source
//! and the memory they touch. Judges nothing anew.

use crate::access::{AccessId, What};
use crate::deadlock::LockOrder;
use crate::memory::TouchId;
use crate::pair::Pair;
use crate::verdict::Verdict;
use crate::words::line;
use crate::{Cycle, Detect, Stages};
use classfile::Layer;
use findings::{Confidence, Dismissed, Place};
use happens_before::Origin;
use ir::{ClassId, FieldId, MethodId, Program, StmtId};
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

/// What claims are about: all that answers have to be known for.
#[derive(Debug, Default)]
pub struct Claims<'a> {
    pub memory: FxHashSet<Memory<'a>>,
    /// The files in which that memory is touched.
    pub files: FxHashSet<&'a str>,
    /// Where the locks of cycles are taken.
    pub locks: FxHashSet<Place>,
}

/// What the program says about claims, looked up by place.
pub struct Answers<'a> {
    detect: &'a Detect,
    stages: &'a Stages<'a>,
    statements: FxHashMap<Memory<'a>, FxHashMap<Place, Vec<TouchId>>>,
    lock_order: LockOrder<'a>,
}

impl Detect {
    /// What is known about these claims.
    pub fn answers<'a>(&'a self, stages: &'a Stages<'a>, claims: &Claims<'a>) -> Answers<'a> {
        let mut found = Places::new(stages, claims.files.iter().copied());
        let mut statements: FxHashMap<Memory<'a>, FxHashMap<Place, Vec<TouchId>>> = FxHashMap::default();
        let fields = Fields::of(&claims.memory);
        for kind in self.memory.kinds_of_memory() {
            let asked = match self.memory.key(kind).0 {
                What::Field(field) | What::Static(field) => fields.find(stages.program, field),
                What::Elements => Some(Memory::Elements).filter(|asked| claims.memory.contains(asked)),
                What::Contents => Some(Memory::Contents).filter(|asked| claims.memory.contains(asked)),
            };
            let Some(asked) = asked else { continue };
            let known = statements.entry(asked).or_default();
            for &touch in self.memory.touches_of(kind) {
                let (method, stmt) = self.memory.statement(touch);
                if let Some(place) = found.find(method, Some(stmt)) {
                    known.entry(place).or_default().push(touch);
                }
            }
        }
        Answers { detect: self, stages, statements, lock_order: LockOrder::at(stages, &claims.locks) }
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

    /// May threads of the program be at all steps of the cycle at the same time?
    pub fn of_cycle(&self, cycle: &Cycle<'_>) -> Answer {
        self.lock_order.answer(self.stages, cycle)
    }
}

/// The fields that claims name. Most fields of a program have another simple name than any of them, so that their full
/// names need not be written.
struct Fields<'a> {
    simple: FxHashSet<&'a str>,
    full: FxHashSet<&'a str>,
}

impl<'a> Fields<'a> {
    fn of(memory: &FxHashSet<Memory<'a>>) -> Fields<'a> {
        let name = |asked: &Memory<'a>| match asked {
            Memory::Field(name) => Some(*name),
            Memory::Elements | Memory::Contents => None,
        };
        let full: FxHashSet<&str> = memory.iter().filter_map(name).collect();
        let simple = full.iter().filter_map(|name| name.rsplit('.').next()).collect();
        Fields { simple, full }
    }

    fn find(&self, program: &Program, field: FieldId) -> Option<Memory<'a>> {
        let simple = &program.names[program.field_ref(field).name];
        let full = self.simple.contains(simple).then(|| program.field_display(field))?;
        self.full.get(full.as_str()).map(|name| Memory::Field(name))
    }
}

/// Where statements are, as far as that is in one of these files.
pub(crate) struct Places<'a> {
    program: &'a Program,
    files: FxHashSet<&'a str>,
    /// The file of each class that was asked about, if it is one of these.
    classes: FxHashMap<ClassId, Option<String>>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(stages: &Stages<'a>, files: impl Iterator<Item = &'a str>) -> Places<'a> {
        Places { program: stages.program, files: files.collect(), classes: FxHashMap::default() }
    }

    /// Without a statement, where the method begins.
    pub(crate) fn find(&mut self, method: MethodId, stmt: Option<StmtId>) -> Option<Place> {
        let (program, files) = (self.program, &self.files);
        let class = program.method_ref(method).class;
        let file = self.classes.entry(class).or_insert_with(|| {
            let is_users = program.class(class).layer != Layer::Jdk;
            Some(program.class_file(class)).filter(|file| is_users && files.contains(file.as_str()))
        });
        let file = file.as_ref()?;
        Some(Place { file: file.clone(), line: line(program, method, stmt)? })
    }
}
