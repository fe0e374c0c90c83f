//! What branches say of an access: which flags decide that it happens, and whether the method has made sure of the field
//! under the lock before. Reads outlines and summaries; decides nothing about threads.

use crate::engine::Compositional;
use crate::entry::Seen;
use crate::outline::{Event, EventId, Outline};
use crate::summary::{Access, Held};
use ir::{FieldRef, Program};

/// Tests of a method that are looked at.
const MOST_TESTS: usize = 64;

impl Outline {
    /// Blocks that are reached from one without passing another.
    pub(crate) fn reached(&self, from: u32, avoiding: Option<u32>) -> Vec<u32> {
        let mut found = vec![from];
        let mut next = 0;
        while let Some(&number) = found.get(next) {
            next += 1;
            if Some(number) == avoiding {
                continue;
            }
            for &to in &self.blocks[number as usize].succs {
                if !found.contains(&to) {
                    found.push(to);
                }
            }
        }
        found
    }

    fn block_of(&self, event: EventId) -> Option<u32> {
        let at = self.blocks.iter().position(|block| (block.first..block.end).contains(&event))?;
        Some(at as u32)
    }

    /// Does every way to the one event pass the other?
    fn is_always_before(&self, first: EventId, then: EventId) -> bool {
        let (Some(one), Some(other)) = (self.block_of(first), self.block_of(then)) else { return false };
        match one == other {
            true => first < then,
            false => one == 0 || !self.reached(0, Some(one)).contains(&other),
        }
    }

    /// Flags, of whichever object, that have to be set or not for the event to happen.
    fn flags(&self, program: &Program, event: EventId) -> Vec<(FieldRef, bool)> {
        let Some(own) = self.block_of(event) else { return Vec::new() };
        let tests = self.blocks.iter().filter_map(|block| Some((block, block.test?))).take(MOST_TESTS);
        let decides = |(block, test): (&crate::outline::Block, crate::outline::Test)| {
            let flag = match self.events.get(test.of as usize)? {
                Event::Read { field, .. } | Event::ReadStatic { field } => *field,
                _ => return None,
            };
            let [first, second] = *block.succs else { return None };
            if &program.names[flag.descriptor] != "Z" {
                return None;
            }
            match [first, second].map(|next| self.reached(next, None).contains(&own)) {
                [true, false] => Some((flag, test.first_if_true)),
                [false, true] => Some((flag, !test.first_if_true)),
                _ => None,
            }
        };
        tests.filter_map(decides).collect()
    }
}

impl Compositional {
    /// Does one side happen only where a flag is set, and the other only where it is not?
    pub(crate) fn are_chosen_by_flag(&self, program: &Program, sides: &[Seen<'_>; 2]) -> bool {
        let [one, other] = sides.each_ref().map(|side| self.flags_of(program, side));
        one.iter().any(|&(flag, is_set)| other.contains(&(flag, !is_set)))
    }

    fn flags_of(&self, program: &Program, side: &Seen<'_>) -> Vec<(FieldRef, bool)> {
        let way = self.way(side.entry.method, side.number).into_iter();
        let of_frame = |(method, access): (ir::MethodId, &Access)| {
            let outline = self.methods.get(method).map(|slot| slot.packed.outline());
            outline.map_or_else(Vec::new, |outline| outline.flags(program, access.site.at))
        };
        way.flat_map(of_frame).collect()
    }

    /// Has the reader just made sure of the field under the lock, in the same method that writes it only if there was
    /// nothing in it?
    pub(crate) fn is_made_sure_of(&self, sides: &[Seen<'_>; 2]) -> bool {
        let (reader, writer) = match sides.each_ref().map(|side| side.access.writes) {
            [false, true] => (&sides[0], &sides[1]),
            [true, false] => (&sides[1], &sides[0]),
            _ => return false,
        };
        let (method, read) = self.last_site(reader.entry.method, reader.number);
        let (of_writer, write) = self.last_site(writer.entry.method, writer.number);
        let (Some(slot), Some(summary)) = (self.methods.get(method), self.summary(method)) else {
            return false;
        };
        if of_writer != method || reader.access.started > 0 {
            return false;
        }
        let own = |at: EventId, writes: bool| {
            let is_it = move |access: &&Access| access.site.at == at && access.writes == writes;
            summary.accesses.iter().filter(|access| access.site.via.is_none()).find(is_it)
        };
        let (Some(written), Some(seen)) = (own(write, true), own(read, false)) else { return false };
        let outline = slot.packed.outline();
        let is_locked_test = |test: EventId| {
            let shares = |held: &Held| held.sure && written.held.iter().any(|other| other.lock == held.lock);
            own(test, false).is_some_and(|tested| tested.path == seen.path && tested.held.iter().any(shares))
        };
        let mut tests = outline.blocks.iter().filter_map(|block| block.test).map(|test| test.of);
        written.path == seen.path
            && tests.any(|test| {
                is_locked_test(test)
                    && outline.is_always_before(test, write)
                    && outline.is_always_before(test, read)
            })
    }
}
