//! The engine between two runs: its state as bytes, and the way from these to what it would be on the class path as it
//! is then. That the bytes are as they were written, by this very Snarl, is for whoever keeps them to know.
//!
//! The state is a list of pieces, each behind its length. What is always needed is read at once, by all cores; outlines
//! and summaries stay bytes until somebody asks for them.

use crate::callers::Callers;
use crate::engine::{Compositional, Redone};
use crate::homes::Homes;
use crate::link::Link;
use crate::methods::{Head, Methods, Slot};
use crate::outline::Packed;
use crate::sealed::Sealed;
use crate::stages::Stages;
use bytes::Bytes;
use classfile::ClassSource;
use ir::{ClassId, Program};
use models::{Knowledge, Models};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
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

/// How many bytes a method has behind the heads: of its outline, of the places in it, and of its summary.
type Lens = [u32; 3];

/// So many methods are written and read as one.
const AT_A_TIME: usize = 4096;

impl Compositional {
    /// Writes what [`Compositional::recall`] goes on from.
    pub fn write(&mut self, to: &mut (dyn Write + Send)) -> io::Result<()> {
        let program = self.link.program();
        program.forget_answers();
        let stamps = stamps(program, program.looked_for());
        put(to, &bytes(&Written { link: &self.link, classes: &self.classes, stamps: &stamps })?)?;
        let after = WrittenAfter { callers: &self.callers, escaping: &self.escaping, homes: &self.homes };
        put(to, &bytes(&after)?)?;
        let chunks: Vec<&[Option<Slot>]> = self.methods.slots().chunks(AT_A_TIME).collect();
        // Not more of them in memory than there are hands.
        for chunks in chunks.chunks(rayon::current_num_threads()) {
            let written: io::Result<Vec<_>> = chunks.par_iter().map(|slots| written(slots)).collect();
            for (heads, rest) in written? {
                put(to, &heads)?;
                put(to, &rest)?;
            }
        }
        Ok(())
    }

    /// The engine as it was, brought up to date with the class path. `None` if the bytes are of no use.
    pub fn recall(
        state: Bytes,
        source: Arc<dyn ClassSource>,
        models: Models,
        knowledge: Knowledge,
    ) -> Option<(Compositional, Redone)> {
        let stages = Stages::default();
        let pieces = split(&state)?;
        let [tables, after, slots @ ..] = pieces.as_slice() else { return None };
        let read_slots = || slots.par_chunks(2).map(read_slots).collect::<Option<Vec<_>>>();
        let (tables, (after, slots)) = rayon::join(
            || read::<Read>(tables),
            || {
                rayon::join(
                    || read::<ReadAfter>(after),
                    || Some(Methods::of(read_slots()?.into_iter().flatten().collect())),
                )
            },
        );
        let (Read { link, classes, stamps: known }, methods) = (tables?, slots?);
        let link = link.over(source.clone(), models);
        let mut engine = Compositional::with(link, knowledge, methods, classes);
        engine.stages = stages;
        let ReadAfter { callers, escaping, homes } = after?;
        (engine.callers, engine.escaping, engine.homes) = (callers, escaping, homes);
        // What is wrong with classes is noted when they are read.
        engine
            .link
            .program()
            .not_found()
            .filter(|name| source.stamp(name).is_some())
            .for_each(|name| _ = source.find(name));
        engine.stages.end("recall");
        let changed = changed(&*source, &known);
        engine.stages.end("changed classes");
        let redone = engine.apply(source, &changed);
        Some((engine, redone))
    }
}

/// The heads of some methods, and everything else of them.
fn written(slots: &[Option<Slot>]) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut heads, mut rest): (Vec<Option<(Lens, &Head)>>, _) = (Vec::new(), Vec::new());
    for slot in slots {
        heads.push(slot.as_ref().map(|slot| {
            let Packed { code, places } = &slot.packed;
            rest.extend_from_slice(code);
            rest.extend_from_slice(places);
            let lens = [code.len(), places.len(), slot.summary.write(&mut rest)];
            (lens.map(|len| len as u32), &slot.head)
        }));
    }
    Ok((bytes(&heads)?, rest))
}

fn read_slots(pieces: &[Bytes]) -> Option<Vec<Option<Slot>>> {
    let [heads, rest] = pieces else { return None };
    let mut at = 0;
    let mut take = |len: u32| {
        let end = at + len as usize;
        let taken = (end <= rest.len()).then(|| rest.slice(at..end))?;
        at = end;
        Some(taken)
    };
    let mut slots = Vec::new();
    for head in read::<Vec<Option<(Lens, Head)>>>(heads)? {
        let Some(([code, places, summary], head)) = head else {
            slots.push(None);
            continue;
        };
        let packed = Packed { code: take(code)?, places: take(places)? };
        slots.push(Some(Slot { packed, head, summary: Sealed::read(take(summary)?) }));
    }
    (at == rest.len()).then_some(slots)
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

fn bytes(of: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(of).map_err(io::Error::other)
}

fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let (read, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(read)
}

fn put(to: &mut (dyn Write + Send), piece: &[u8]) -> io::Result<()> {
    to.write_all(&(piece.len() as u64).to_le_bytes())?;
    to.write_all(piece)
}

fn split(bytes: &Bytes) -> Option<Vec<Bytes>> {
    let (mut pieces, mut at) = (Vec::new(), 0usize);
    while at < bytes.len() {
        let length = bytes[at..].first_chunk::<8>()?;
        let start = at + 8;
        at = start.checked_add(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        pieces.push((at <= bytes.len()).then(|| bytes.slice(start..at))?);
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_split_as_they_were_put() {
        let pieces = [vec![1, 2, 3], vec![], vec![4]];
        let mut bytes = Vec::new();
        pieces.iter().for_each(|piece| put(&mut bytes, piece).expect("memory"));
        let bytes = Bytes::from(bytes);
        assert_eq!(split(&bytes), Some(pieces.map(Bytes::from).to_vec()));
        for end in [1, 7, 9, bytes.len() - 1] {
            assert_eq!(split(&bytes.slice(..end)), None, "{end}");
        }
        assert_eq!(split(&Bytes::from(vec![0xff; 64])), None);
    }
}
