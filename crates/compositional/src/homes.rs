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
use std::sync::Arc;

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
    findings: Vec<Arc<Finding>>,
    /// What it was worked out from.
    methods: Box<[MethodId]>,
    noted: Box<[ClassId]>,
    /// Static fields that methods of the class touch.
    statics: Box<[Touch]>,
}

/// A static field that a class touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Touch {
    field: FieldId,
    /// Something may be wrong with it: it is written, or says what guards it.
    matters: bool,
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
) -> Vec<Arc<Finding>> {
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
                fields.extend(told.statics.iter().map(|touch| touch.field));
            }
            is_there
        });
        let is_named = |class: &ClassId, members: &[ClassId]| {
            std::iter::once(class).chain(members).any(|class| touched.classes.contains(class))
        };
        let is_stale = |(class, members): &(&ClassId, &Vec<ClassId>)| match self.classes.get(class) {
            Some(told) => is_named(class, members) || told.is_stale(touched),
            None => true,
        };
        let stale: Vec<(ClassId, &Vec<ClassId>)> =
            inner.par_iter().filter(is_stale).map(|(class, members)| (*class, members)).collect();
        let ask = |(class, members): (ClassId, &Vec<ClassId>)| (class, of_class(tell, class, members));
        let told: Vec<(ClassId, Told)> = stale.into_par_iter().map(ask).collect();
        for (class, told) in told {
            let now: FxHashSet<Touch> = told.statics.iter().copied().collect();
            let before = self.classes.insert(class, told);
            let before = before.iter().flat_map(|told| told.statics.iter().copied()).collect();
            // What was found at a field that it touches as before says itself what it was worked out from, but for
            // classes that were not there.
            match is_named(&class, &inner[&class]) {
                true => fields.extend(now.union(&before).map(|touch| touch.field)),
                false => fields.extend(now.symmetric_difference(&before).map(|touch| touch.field)),
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
        let others = self.statics.par_iter().filter(|(_, told)| told.is_stale(touched));
        stale.par_extend(others.map(|(&field, _)| field));
        let mut touching: FxHashMap<FieldId, Vec<ClassId>> = FxHashMap::default();
        let mut matter: FxHashSet<FieldId> = FxHashSet::default();
        for (&class, told) in &self.classes {
            for &Touch { field, matters } in told.statics.iter().filter(|touch| stale.contains(&touch.field))
            {
                touching.entry(field).or_default().push(class);
                if matters {
                    matter.insert(field);
                }
            }
        }
        touching.retain(|field, _| matter.contains(field));
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
    fn of(findings: Vec<Arc<Finding>>, noted: Noted, statics: Vec<Touch>) -> Told {
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
        let findings = conflicts.iter().map(|conflict| Arc::new(tell.conflict(conflict))).collect();
        (findings, statics(tell, &entries))
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
        conflicts.iter().map(|conflict| Arc::new(tell.conflict(conflict))).collect()
    });
    Told::of(findings, noted, Vec::new())
}

/// What can be called on the objects of a class, by whichever class has it.
fn entries(tell: &Tell<'_>, class: ClassId, members: &[ClassId]) -> Vec<Entry> {
    let all = members.iter().flat_map(|&member| entry::of_class(tell.engine, tell.program, member));
    all.filter(|entry| entry.class == class).collect()
}

fn statics(tell: &Tell<'_>, entries: &[Entry]) -> Vec<Touch> {
    let accesses = entries
        .iter()
        .filter(|entry| entry.outer.is_none() && !entry.is_once)
        .filter_map(|entry| tell.engine.summary(entry.method))
        .flat_map(|summary| &summary.accesses);
    let mut fields: FxHashMap<FieldId, bool> = FxHashMap::default();
    for access in accesses {
        if let Root::Static(field) = access.path.root {
            let matters = fields.entry(field).or_default();
            *matters = *matters || access.writes || race::is_guarded(tell.engine, tell.program, &access.path);
        }
    }
    let mut touches: Vec<Touch> =
        fields.into_iter().map(|(field, matters)| Touch { field, matters }).collect();
    touches.sort_unstable();
    touches
}
