//! What becomes of fresh values inside one activation: published with what holds them. Knows roots and statements
//! as numbers only.

use super::look::{Look, Move};
use crate::bits::Bits;
use arena::Id;

/// By root.
pub struct Places {
    /// Statements that publish it.
    pub events: Vec<Bits>,
    /// Statements that publish what it holds.
    pub contents: Vec<Bits>,
    /// Roots it is kept in.
    inside: Vec<Bits>,
}

impl Places {
    /// `keeps(holder, loaded)`: is what goes into the holder, or into something loaded from it, known to nobody
    /// else for that?
    pub fn new(look: &Look, keeps: impl Fn(u32, bool) -> bool) -> Places {
        let none = vec![Bits::new(); look.roots.len()];
        let mut places = Places { events: none.clone(), contents: none.clone(), inside: none };
        // What the first holds is held by the second as well.
        let mut shared: Vec<(u32, u32)> = Vec::new();
        for &(stmt, ref moved) in &look.moves {
            match *moved {
                Move::Publish(root) => _ = places.events[root as usize].insert(stmt.index()),
                Move::PublishContents(root) => _ = places.contents[root as usize].insert(stmt.index()),
                Move::Keep { value, holder, loaded } if keeps(holder, loaded) => {
                    places.inside[value as usize].insert(holder as usize);
                }
                Move::Keep { value, .. } => _ = places.events[value as usize].insert(stmt.index()),
                Move::KeepContents { value, holder, loaded } if keeps(holder, loaded) => {
                    shared.push((value, holder));
                }
                Move::KeepContents { value, .. } => {
                    places.contents[value as usize].insert(stmt.index());
                }
            }
        }
        places.close(&shared);
        places
    }

    fn close(&mut self, shared: &[(u32, u32)]) {
        let kept: Vec<usize> = (0..self.inside.len()).filter(|&at| !self.inside[at].is_empty()).collect();
        let mut grown = !kept.is_empty();
        while grown {
            grown = false;
            for &value in &kept {
                for &(from, also) in shared {
                    if self.inside[value].contains(from as usize) {
                        grown |= self.inside[value].insert(also as usize);
                    }
                }
                let mut stmts = Bits::new();
                for holder in self.inside[value].iter() {
                    stmts.union_with(&self.events[holder]);
                    stmts.union_with(&self.contents[holder]);
                }
                grown |= self.events[value].grow(&stmts);
                // What it holds goes with it.
                grown |= self.contents[value].grow(&stmts);
            }
        }
    }

    /// All roots the value is kept in, directly or through others that may be passed.
    pub fn goes_into(&self, root: u32, may_pass: impl Fn(u32) -> bool) -> impl Iterator<Item = u32> {
        let mut found: Vec<u32> = Vec::new();
        let mut left = vec![root];
        while let Some(next) = left.pop() {
            for holder in self.inside[next as usize].iter().map(|at| at as u32) {
                if !found.contains(&holder) {
                    found.push(holder);
                    if may_pass(holder) {
                        left.push(holder);
                    }
                }
            }
        }
        found.into_iter()
    }
}
