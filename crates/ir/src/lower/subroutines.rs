//! `jsr` and `ret` of old class files: which return address is meant where. A subroutine is lowered once per
//! chain of calls to it, so a block is named by its first instruction and such a chain; nothing else is known here.

use super::listing::Listing;
use classfile::{Code, Insn};
use rustc_hash::FxHashMap;

/// A chain of subroutine calls under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Context(pub(super) u32);

pub(super) const TOP: Context = Context(0);

/// A `finally` inside a `finally` nests once; people stop long before this.
const MAX_NESTING: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Call {
    subroutine: u32,
    returns_to: u32,
}

pub(super) struct Subroutines {
    /// The calls of each chain, outermost first.
    chains: Vec<Vec<Call>>,
    ids: FxHashMap<Vec<Call>, Context>,
    /// Instructions from which a `ret` can be reached within the same subroutine; empty without any `jsr`.
    returning: Vec<bool>,
}

impl Subroutines {
    pub(super) fn find(listing: &Listing<'_>, code: &Code<'_>) -> Subroutines {
        let used = listing.insns.iter().any(|insn| matches!(insn, Insn::Jsr(_)));
        let returning = if used { returning(listing, code) } else { Vec::new() };
        Subroutines { chains: vec![Vec::new()], ids: FxHashMap::from_iter([(Vec::new(), TOP)]), returning }
    }

    pub(super) fn used(&self) -> bool {
        !self.returning.is_empty()
    }

    /// The chain after `jsr`. A subroutine that is entered again was left by a jump: a subroutine never calls
    /// itself. This also bounds the length of chains.
    pub(super) fn call(
        &mut self,
        from: Context,
        subroutine: u32,
        returns_to: u32,
    ) -> Result<Context, String> {
        let mut chain = self.chains[from.0 as usize].clone();
        if let Some(at) = chain.iter().position(|call| call.subroutine == subroutine) {
            chain.truncate(at);
        }
        chain.push(Call { subroutine, returns_to });
        if chain.len() > MAX_NESTING {
            return Err("subroutines nested too deeply".to_owned());
        }
        Ok(self.intern(chain))
    }

    /// Where `ret` goes and the chain there.
    pub(super) fn ret(&mut self, from: Context) -> Result<(u32, Context), String> {
        let mut chain = self.chains[from.0 as usize].clone();
        let call = chain.pop().ok_or("ret outside a subroutine")?;
        Ok((call.returns_to, self.intern(chain)))
    }

    /// The chain that matters at instruction `to` when coming from `from`: none, if no `ret` will ask for it.
    /// Keeps code after a subroutine that was left by a jump or an exception from being copied.
    pub(super) fn enter(&self, from: Context, to: u32) -> Context {
        if from == TOP || self.returning[to as usize] { from } else { TOP }
    }

    fn intern(&mut self, chain: Vec<Call>) -> Context {
        if let Some(&id) = self.ids.get(&chain) {
            return id;
        }
        let id = Context(self.chains.len() as u32);
        self.chains.push(chain.clone());
        self.ids.insert(chain, id);
        id
    }
}

/// Backwards from every `ret`, over jumps, falling through (a `jsr` comes back to the next instruction) and
/// exceptions.
fn returning(listing: &Listing<'_>, code: &Code<'_>) -> Vec<bool> {
    let count = listing.len();
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut link = |from: usize, to: usize| {
        if let Some(preds) = preds.get_mut(to) {
            preds.push(from as u32);
        }
    };
    for (at, insn) in listing.insns.iter().enumerate() {
        let mut jump = |pc: u32| {
            if let Ok(to) = listing.at(pc) {
                link(at, to as usize);
            }
        };
        match insn {
            Insn::Goto(target) => jump(*target),
            Insn::If { target, .. } => jump(*target),
            Insn::TableSwitch { default, targets, .. } => {
                jump(*default);
                targets.iter().for_each(|&target| jump(target));
            }
            Insn::LookupSwitch { default, pairs } => {
                jump(*default);
                pairs.iter().for_each(|&(_, target)| jump(target));
            }
            _ => {}
        }
        if falls_through(insn) {
            link(at, at + 1);
        }
    }
    for handler in &code.handlers {
        let Ok(target) = listing.at(handler.target.into()) else { continue };
        for at in listing.at_or_after(handler.start.into())..listing.at_or_after(handler.end.into()) {
            if listing.can_throw(at) {
                preds[target as usize].push(at as u32);
            }
        }
    }
    let mut found = vec![false; count];
    let mut left: Vec<u32> = Vec::new();
    for (at, insn) in listing.insns.iter().enumerate() {
        if matches!(insn, Insn::Ret(_)) {
            found[at] = true;
            left.push(at as u32);
        }
    }
    while let Some(at) = left.pop() {
        for &pred in &preds[at as usize] {
            if !std::mem::replace(&mut found[pred as usize], true) {
                left.push(pred);
            }
        }
    }
    found
}

/// Does control reach the next instruction (for `jsr`: after the subroutine)?
pub(super) fn falls_through(insn: &Insn<'_>) -> bool {
    !matches!(
        insn,
        Insn::Goto(_)
            | Insn::Ret(_)
            | Insn::TableSwitch { .. }
            | Insn::LookupSwitch { .. }
            | Insn::Return(_)
            | Insn::Throw
    )
}
