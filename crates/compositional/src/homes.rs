//! What the rules about memory found, by whose memory it is: the objects of a class, or a static field. It is kept until
//! something changes that it was worked out from. Knows when to ask the rules, and nothing of what they say.

use crate::engine::Compositional;
use crate::entry::{self, Entry};
use crate::noted::{Noted, noting};
use crate::path::Root;
use crate::race;
use crate::tell::Tell;
use findings::{Confidence, Finding};
use ir::{ClassId, FieldId, MethodId, Program};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Homes {
    classes: FxHashMap<ClassId, Told>,
    statics: FxHashMap<FieldId, Told>,
    /// For whom they were told.
    least: Confidence,
}

/// What was found at one of them.
#[derive(Default, Serialize, Deserialize)]
struct Told {
    findings: Vec<Finding>,
    /// What it was worked out from.
    methods: Box<[MethodId]>,
    noted: Box<[ClassId]>,
    /// Static fields that methods of the class touch.
    statics: Box<[FieldId]>,
}

/// What has changed since the rules were asked.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub methods: FxHashSet<MethodId>,
    pub classes: FxHashSet<ClassId>,
}

/// Everything that the rules find, given what was found before.
pub(crate) fn findings(
    engine: &Compositional,
    program: &Program,
    homes: &mut Homes,
    mut touched: Touched,
    least: Confidence,
) -> Vec<Finding> {
    if std::mem::replace(&mut homes.least, least) != least {
        *homes = Homes { least, ..Homes::default() };
    }
    for &class in &touched.classes {
        touched.methods.extend(program.class(class).methods.iter().copied());
    }
    let tell = Tell { engine, program, least };
    let inner = inner(engine, program);
    let fields = homes.ask_classes(&tell, &inner, &touched);
    homes.ask_statics(&tell, &inner, fields, &touched);
    let told = homes.classes.values().chain(homes.statics.values());
    told.flat_map(|told| &told.findings).cloned().collect()
}

/// Classes that are about the objects of each class: itself, if it is of the application, and those inside it.
type Inner = FxHashMap<ClassId, Vec<ClassId>>;

fn inner(engine: &Compositional, program: &Program) -> Inner {
    let mut inner: Inner = FxHashMap::default();
    for &class in &engine.classes {
        inner.entry(class).or_default().push(class);
        if let Some((outer, _)) = entry::outer(program, class) {
            inner.entry(outer).or_default().push(class);
        }
    }
    inner
}

impl Homes {
    /// Asks again about classes of which something has changed. The static fields that they touch or touched.
    fn ask_classes(&mut self, tell: &Tell<'_>, inner: &Inner, touched: &Touched) -> FxHashSet<FieldId> {
        let mut fields: FxHashSet<FieldId> = FxHashSet::default();
        self.classes.retain(|class, told| {
            let is_there = inner.contains_key(class);
            if !is_there {
                fields.extend(&told.statics);
            }
            is_there
        });
        let is_stale = |(class, members): &(&ClassId, &Vec<ClassId>)| match self.classes.get(class) {
            Some(told) => {
                let is_touched = |class: &ClassId| touched.classes.contains(class);
                is_touched(class) || members.iter().any(is_touched) || told.is_stale(touched)
            }
            None => true,
        };
        let stale: Vec<(ClassId, &Vec<ClassId>)> =
            inner.iter().filter(is_stale).map(|(class, members)| (*class, members)).collect();
        let ask = |(class, members): (ClassId, &Vec<ClassId>)| (class, of_class(tell, class, members));
        let told: Vec<(ClassId, Told)> = stale.into_par_iter().map(ask).collect();
        for (class, told) in told {
            fields.extend(&told.statics);
            if let Some(before) = self.classes.insert(class, told) {
                fields.extend(&before.statics);
            }
        }
        fields
    }

    fn ask_statics(
        &mut self,
        tell: &Tell<'_>,
        inner: &Inner,
        mut stale: FxHashSet<FieldId>,
        touched: &Touched,
    ) {
        let others = self.statics.iter().filter(|(_, told)| told.is_stale(touched));
        stale.extend(others.map(|(&field, _)| field));
        let mut touching: FxHashMap<FieldId, Vec<ClassId>> = FxHashMap::default();
        for (&class, told) in &self.classes {
            for field in told.statics.iter().filter(|field| stale.contains(field)) {
                touching.entry(*field).or_default().push(class);
            }
        }
        stale.iter().filter(|field| !touching.contains_key(field)).for_each(|field| {
            self.statics.remove(field);
        });
        let touching: Vec<(FieldId, Vec<ClassId>)> = touching.into_iter().collect();
        let ask = |(field, classes): (FieldId, Vec<ClassId>)| (field, of_field(tell, field, &classes, inner));
        let told: Vec<(FieldId, Told)> = touching.into_par_iter().map(ask).collect();
        self.statics.extend(told);
    }
}

impl Told {
    fn of(findings: Vec<Finding>, noted: Noted, statics: Vec<FieldId>) -> Told {
        let (methods, classes) = (noted.methods.into_iter().collect(), noted.classes.into_iter().collect());
        Told { findings, methods, noted: classes, statics: statics.into() }
    }

    fn is_stale(&self, touched: &Touched) -> bool {
        self.methods.iter().any(|method| touched.methods.contains(method))
            || self.noted.iter().any(|class| touched.classes.contains(class))
    }
}

fn of_class(tell: &Tell<'_>, class: ClassId, members: &[ClassId]) -> Told {
    let ((findings, statics), noted) = noting(|| {
        let entries = entries(tell, class, members);
        let is_own = |root: Root| !matches!(root, Root::Static(_));
        let conflicts = race::conflicts(tell.engine, tell.program, &entries, is_own);
        let findings = conflicts.iter().map(|conflict| tell.conflict(conflict)).collect();
        (findings, statics(tell.engine, &entries))
    });
    Told::of(findings, noted, statics)
}

fn of_field(tell: &Tell<'_>, field: FieldId, classes: &[ClassId], inner: &Inner) -> Told {
    let (findings, noted) = noting(|| {
        let members = |class: &ClassId| inner.get(class).map_or(&[][..], Vec::as_slice);
        let entries: Vec<Entry> =
            classes.iter().flat_map(|class| entries(tell, *class, members(class))).collect();
        let is_it = |root: Root| root == Root::Static(field);
        let conflicts = race::conflicts(tell.engine, tell.program, &entries, is_it);
        conflicts.iter().map(|conflict| tell.conflict(conflict)).collect()
    });
    Told::of(findings, noted, Vec::new())
}

/// What can be called on the objects of a class, by whichever class has it.
fn entries(tell: &Tell<'_>, class: ClassId, members: &[ClassId]) -> Vec<Entry> {
    let all = members.iter().flat_map(|&member| entry::of_class(tell.engine, tell.program, member));
    all.filter(|entry| entry.class == class).collect()
}

fn statics(engine: &Compositional, entries: &[Entry]) -> Vec<FieldId> {
    let accesses = entries
        .iter()
        .filter(|entry| entry.outer.is_none())
        .filter_map(|entry| engine.summary(entry.method))
        .flat_map(|summary| &summary.accesses);
    let mut fields: Vec<FieldId> = accesses
        .filter_map(|access| match access.path.root {
            Root::Static(field) => Some(field),
            _ => None,
        })
        .collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}
