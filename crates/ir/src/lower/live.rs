//! Which locals are still read after a block begins: only those are joined there, so that no phi is dead. Numbers
//! the locals that the code names at all; says nothing of values.

use super::blocks::{Graph, NodeKind};
use super::listing::Listing;
use classfile::Insn;

pub(super) struct Live {
    /// Dense number by slot; `UNUSED` for slots the code never names.
    dense: Vec<u32>,
    slots: Vec<u16>,
    words: usize,
    /// `words` per node.
    entry: Vec<u64>,
}

const UNUSED: u32 = u32::MAX;

impl Live {
    pub(super) fn compute(listing: &Listing<'_>, graph: &Graph) -> Live {
        let mut live = Live { dense: Vec::new(), slots: Vec::new(), words: 0, entry: Vec::new() };
        for insn in &listing.insns {
            if let Insn::Load { slot, .. } | Insn::Store { slot, .. } | Insn::Iinc { slot, .. } = insn {
                live.name(*slot);
            }
        }
        live.words = live.slots.len().div_ceil(64);
        live.entry = vec![0; live.words * graph.nodes.len()];
        if graph.nodes.len() > 1 && live.words > 0 {
            live.solve(listing, graph);
        }
        live
    }

    fn name(&mut self, slot: u16) {
        let at = usize::from(slot);
        if self.dense.len() <= at {
            self.dense.resize(at + 1, UNUSED);
        }
        if self.dense[at] == UNUSED {
            self.dense[at] = self.slots.len() as u32;
            self.slots.push(slot);
        }
    }

    /// How many locals the code names.
    pub(super) fn locals(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn dense(&self, slot: u16) -> Option<usize> {
        self.dense.get(usize::from(slot)).filter(|&&dense| dense != UNUSED).map(|&dense| dense as usize)
    }

    pub(super) fn slot(&self, dense: usize) -> u16 {
        self.slots[dense]
    }

    /// Dense numbers of the locals live where `node` begins, ascending.
    pub(super) fn at_entry(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.entry[node * self.words..(node + 1) * self.words].iter().enumerate().flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }

    /// entry(n) = read first in n ∪ (∪ entry(successors) − stored in n) ∪ ∪ entry(handlers).
    /// Handlers see the locals as they were on entry, so stores do not hide them.
    fn solve(&mut self, listing: &Listing<'_>, graph: &Graph) {
        let words = self.words;
        let mut stored = vec![0u64; words * graph.nodes.len()];
        for (at, node) in graph.nodes.iter().enumerate() {
            if node.kind != NodeKind::Code {
                continue;
            }
            let base = at * words;
            for insn in &listing.insns[node.first as usize..node.end as usize] {
                let (slot, reads, writes) = match *insn {
                    Insn::Load { slot, .. } => (slot, true, false),
                    Insn::Store { slot, .. } => (slot, false, true),
                    Insn::Iinc { slot, .. } => (slot, true, true),
                    _ => continue,
                };
                let local = self.dense[usize::from(slot)] as usize;
                let (word, bit) = (base + local / 64, 1u64 << (local % 64));
                if reads && stored[word] & bit == 0 {
                    self.entry[word] |= bit;
                }
                if writes {
                    stored[word] |= bit;
                }
            }
        }
        let mut queued = vec![true; graph.nodes.len()];
        let mut left: Vec<u32> = (0..graph.nodes.len() as u32).collect();
        while let Some(at) = left.pop() {
            let at = at as usize;
            queued[at] = false;
            let node = &graph.nodes[at];
            let mut grew = false;
            for word in 0..words {
                let union = |edges: &[u32]| {
                    edges.iter().fold(0, |bits, &to| bits | self.entry[to as usize * words + word])
                };
                let bits = union(&node.succs) & !stored[at * words + word] | union(&node.handlers);
                let entry = &mut self.entry[at * words + word];
                grew |= bits & !*entry != 0;
                *entry |= bits;
            }
            if grew {
                for &pred in &node.preds {
                    if !std::mem::replace(&mut queued[pred as usize], true) {
                        left.push(pred);
                    }
                }
            }
        }
    }
}
