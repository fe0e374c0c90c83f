//! The engine between two runs: its state as bytes, and the way from these to what it would be on the class path as it
//! is then. That the bytes are as they were written, by this very Snarl, is for whoever keeps them to know.

use crate::callers::Callers;
use crate::engine::{Compositional, Redone};
use crate::homes::Homes;
use crate::link::Link;
use crate::methods::{Methods, Slot};
use crate::stages::Stages;
use classfile::ClassSource;
use ir::{ClassId, Program};
use models::{Knowledge, Models};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What there is one of.
#[derive(Serialize)]
struct Written<'a> {
    link: &'a Link,
    classes: &'a FxHashSet<ClassId>,
    stamps: &'a [(String, Option<u64>)],
}

#[derive(Deserialize)]
struct Read {
    link: Link,
    classes: FxHashSet<ClassId>,
    stamps: Vec<(String, Option<u64>)>,
}

/// What was worked out from summaries, to be compared with what follows from them after a change.
#[derive(Serialize)]
struct WrittenAfter<'a> {
    callers: &'a Callers,
    escaping: &'a FxHashSet<ClassId>,
    homes: &'a Homes,
}

#[derive(Deserialize)]
struct ReadAfter {
    callers: Callers,
    escaping: FxHashSet<ClassId>,
    homes: Homes,
}

/// So many methods are written and read as one piece.
const AT_A_TIME: usize = 4096;

impl Compositional {
    /// What [`Compositional::recall`] goes on from.
    pub fn state(&mut self) -> Option<Vec<u8>> {
        let program = self.link.program();
        program.forget_answers();
        let stamps = stamps(program, program.looked_for());
        let tables = Written { link: &self.link, classes: &self.classes, stamps: &stamps };
        let after = WrittenAfter { callers: &self.callers, escaping: &self.escaping, homes: &self.homes };
        let slots: Vec<&[Option<Slot>]> = self.methods.slots().chunks(AT_A_TIME).collect();
        let (tables, slots) = rayon::join(
            || postcard::to_stdvec(&tables),
            || slots.par_iter().map(postcard::to_stdvec).collect::<Result<Vec<_>, _>>(),
        );
        let mut pieces = vec![tables.ok()?, postcard::to_stdvec(&after).ok()?];
        pieces.extend(slots.ok()?);
        Some(joined(pieces))
    }

    /// The engine as it was, brought up to date with the class path. `None` if the bytes are of no use.
    pub fn recall(
        state: &[u8],
        source: Arc<dyn ClassSource>,
        models: Models,
        knowledge: Knowledge,
    ) -> Option<(Compositional, Redone)> {
        let stages = Stages::default();
        let pieces = split(state)?;
        let [tables, after, slots @ ..] = pieces.as_slice() else { return None };
        let (tables, (after, slots)) = rayon::join(
            || read::<Read>(tables),
            || {
                rayon::join(
                    || read::<ReadAfter>(after),
                    || {
                        slots
                            .par_iter()
                            .map(|bytes| read::<Vec<Option<Slot>>>(bytes))
                            .collect::<Option<Vec<_>>>()
                    },
                )
            },
        );
        let (Read { link, classes, stamps: known }, slots) = (tables?, slots?);
        let methods = Methods::of(slots.into_iter().flatten().collect());
        let link = link.over(source.clone(), models);
        let mut engine = Compositional::with(link, knowledge, methods, classes);
        engine.stages = stages;
        let ReadAfter { callers, escaping, homes } = after?;
        (engine.callers, engine.escaping, engine.homes) = (callers, escaping, homes);
        let changed = changed(&*source, &known);
        engine.stages.end("recall");
        let redone = engine.apply(source, &changed);
        Some((engine, redone))
    }
}

fn stamps(program: &Program, names: Vec<String>) -> Vec<(String, Option<u64>)> {
    let source = program.source();
    let stamp = |name: String| {
        let stamp = source.stamp(&name);
        (name, stamp)
    };
    names.into_par_iter().map(stamp).collect()
}

/// Classes that are others than when they were looked for, or that nobody has looked for.
fn changed(source: &dyn ClassSource, known: &[(String, Option<u64>)]) -> Vec<String> {
    let is_other = |(name, stamp): &&(String, Option<u64>)| source.stamp(name) != *stamp;
    let mut changed: Vec<String> = known.par_iter().filter(is_other).map(|(name, _)| name.clone()).collect();
    let names: FxHashSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    changed.extend(source.app_classes().into_iter().filter(|name| !names.contains(name.as_str())));
    changed.sort_unstable();
    changed
}

fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let (read, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(read)
}

/// Pieces, each behind its length. They can be large: none is held longer than it takes.
fn joined(pieces: Vec<Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in pieces {
        bytes.extend_from_slice(&(piece.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&piece);
    }
    bytes
}

fn split(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (piece, rest) = rest.split_at_checked(length)?;
        pieces.push(piece);
        bytes = rest;
    }
    bytes.is_empty().then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_split_as_they_were_joined() {
        let pieces = vec![vec![1, 2, 3], vec![], vec![4]];
        let bytes = joined(pieces.clone());
        assert_eq!(split(&bytes), Some(pieces.iter().map(Vec::as_slice).collect()));
        for end in [1, 7, 9, bytes.len() - 1] {
            assert_eq!(split(&bytes[..end]), None, "{end}");
        }
    }
}
