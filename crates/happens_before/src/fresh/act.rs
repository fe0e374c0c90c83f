//! The fresh values of one activation: where each is published, given which parameters its callers own. Knows one body.

use super::look::{Look, Move, Value};
use super::places::Places;
use crate::bits::Bits;
use crate::flow::{Flow, after};
use crate::types::Freshness;
use arena::Id;
use ir::{StmtId, StmtKind, Var};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The fresh values of one activation.
#[derive(Debug, Default, Clone)]
pub struct ActFresh {
    pub look: Arc<Look>,
    /// By root: not fresh after all, and since which moment that is known; 0 if it is fresh.
    lost: Vec<u32>,
    /// By root: handed over to here.
    pub taken: Vec<bool>,
    /// By root: statements before which it is published.
    published: Vec<Bits>,
    /// The same for phis in loops, sorted: what one round publishes is not what the next one chooses.
    published_phis: Vec<(Var, Bits)>,
    /// By root: statements before which it, or what it holds, is published.
    published_parts: Vec<Bits>,
}

impl ActFresh {
    pub fn new(look: Arc<Look>, flow: &Flow) -> ActFresh {
        let lost = vec![0; look.roots.len()];
        let taken = look.roots.iter().map(|root| root.kind == Freshness::Taken).collect();
        let mut fresh = ActFresh { look, lost, taken, ..ActFresh::default() };
        fresh.find_published(flow);
        fresh
    }

    /// Roots that are parameters, with their positions.
    pub fn params(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.look.roots.iter().enumerate().filter_map(|(root, info)| Some((root, info.param?)))
    }

    pub fn of(&self, stmt: StmtId, base: Var) -> Freshness {
        let value = self.look.value(base);
        let holders = match value {
            Value { only: true, .. } => &[][..],
            Value { part: true, .. } => self.look.holders_of(value),
            _ => return Freshness::No,
        };
        let all = self.look.roots_of(value).iter().chain(holders).map(|&root| root as usize);
        let is_told = |&root: &u32| is_among(&self.published_parts, root, stmt);
        if all.clone().any(|root| self.is_lost(root))
            || self.is_published(value, stmt)
            || holders.iter().any(is_told)
        {
            return Freshness::No;
        }
        let kind = |root: usize| if self.taken[root] { Freshness::Taken } else { self.look.roots[root].kind };
        all.map(kind).max().unwrap_or(Freshness::No)
    }

    /// Does the call publish another value that this one was kept in before? The callee does not know of that.
    pub fn goes_along(&self, stmt: StmtId, base: Var) -> bool {
        let look = &self.look;
        let here = look.moves.iter().filter(|(at, _)| *at == stmt);
        let published: Vec<u32> = here
            .filter_map(|(_, moved)| match *moved {
                Move::Publish(root) | Move::PublishContents(root) => Some(root),
                Move::Keep { .. } | Move::KeepContents { .. } => None,
            })
            .collect();
        if published.is_empty() {
            return false;
        }
        let value = look.value(base);
        let mut seen: Vec<u32> = Vec::new();
        let mut left: Vec<u32> = look.roots_of(value).iter().chain(look.holders_of(value)).copied().collect();
        while let Some(next) = left.pop() {
            for (_, moved) in look.moves.iter().filter(|(at, _)| *at != stmt) {
                let holder = match *moved {
                    Move::Keep { value, holder, .. } if value == next => holder,
                    // What the first holds is held by the second as well.
                    Move::KeepContents { value, holder, .. } if seen.contains(&value) => holder,
                    _ => continue,
                };
                if !seen.contains(&holder) {
                    seen.push(holder);
                    left.push(holder);
                }
            }
        }
        seen.iter().any(|holder| published.contains(holder))
    }

    fn is_published(&self, value: Value, stmt: StmtId) -> bool {
        let phis = &self.published_phis;
        let phi = value.phi.and_then(|phi| phis.binary_search_by_key(&phi, |&(phi, _)| phi).ok());
        match phi {
            Some(at) => phis[at].1.contains(stmt.index()),
            None => self.look.roots_of(value).iter().any(|&root| is_among(&self.published, root, stmt)),
        }
    }

    pub fn is_lost(&self, root: usize) -> bool {
        self.lost[root] != 0
    }

    /// Roots that are lost, with the moments.
    pub fn losses(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.lost.iter().copied().enumerate().filter(|&(_, moment)| moment != 0)
    }

    /// Does the same for everybody who asks?
    pub fn is_same(&self, other: &ActFresh) -> bool {
        let lost = |fresh: &ActFresh| fresh.lost.iter().map(|&moment| moment != 0).collect::<Vec<_>>();
        self.look == other.look && self.taken == other.taken && lost(self) == lost(other)
    }

    /// As far as it was known before a moment what is lost.
    pub fn before(&self, flow: &Flow, moment: u32) -> ActFresh {
        let mut before = self.clone();
        let later: Vec<usize> = self.losses().filter(|&(_, at)| at >= moment).map(|(root, _)| root).collect();
        before.regain(flow, &later);
        before
    }

    pub fn lose(&mut self, flow: &Flow, roots: &[usize], moment: u32) {
        for &root in roots {
            self.lost[root] = moment;
        }
        self.follow_holders(flow, roots);
    }

    pub fn regain(&mut self, flow: &Flow, roots: &[usize]) {
        for &root in roots {
            self.lost[root] = 0;
        }
        self.follow_holders(flow, roots);
    }

    /// What was kept in a lost parameter is published by that.
    fn follow_holders(&mut self, flow: &Flow, roots: &[usize]) {
        let is_holder = |moved: &Move| match *moved {
            Move::Keep { holder, .. } | Move::KeepContents { holder, .. } => {
                roots.contains(&(holder as usize))
            }
            Move::Publish(_) | Move::PublishContents(_) => false,
        };
        if self.look.moves.iter().any(|(_, moved)| is_holder(moved)) {
            self.find_published(flow);
        }
    }

    /// Statements reachable from one that publishes the value, without passing the one that makes it.
    fn find_published(&mut self, flow: &Flow) {
        if self.look.moves.is_empty() {
            return;
        }
        let places = Places::new(&self.look, |holder, loaded| !loaded && !self.is_lost(holder as usize));
        let reached = |by: &[Bits]| -> Vec<Bits> {
            let roots = self.look.roots.iter().zip(by);
            roots
                .map(|(root, stmts)| after(flow, stmts.iter().map(StmtId::new), flow.body.vars[root.var].def))
                .collect()
        };
        let (published, mut parts) = (reached(&places.events), reached(&places.contents));
        parts.iter_mut().zip(&published).for_each(|(parts, whole)| parts.union_with(whole));
        (self.published, self.published_parts) = (published, parts);
        self.find_published_phis(flow, &places.events);
    }

    /// A phi is published by what publishes one of its values before it chooses again, and where it chooses a
    /// value that is published already.
    fn find_published_phis(&mut self, flow: &Flow, events: &[Bits]) {
        self.published_phis.clear();
        let mut unsettled = Vec::new();
        for (stmt, info) in flow.body.stmts.iter() {
            let StmtKind::Phi { dst, .. } = info.kind else { continue };
            let value = self.look.value(dst);
            let mut roots = self.look.roots_of(value).iter().map(|&root| root as usize);
            if !value.only || !flow.in_loop(stmt) || !roots.clone().any(|root| !events[root].is_empty()) {
                continue;
            }
            let stmts: BTreeSet<StmtId> =
                roots.by_ref().flat_map(|root| events[root].iter()).map(StmtId::new).collect();
            self.published_phis.push((dst, after(flow, stmts, Some(stmt))));
            unsettled.push((dst, stmt));
        }
        self.published_phis.sort_unstable_by_key(|&(phi, _)| phi);
        loop {
            let (chosen, other) =
                unsettled.iter().partition(|&&(_, stmt)| self.chooses_published(flow, events, stmt));
            let chosen: Vec<(Var, StmtId)> = chosen;
            unsettled = other;
            if chosen.is_empty() {
                break;
            }
            for (phi, stmt) in chosen {
                let from = after(flow, [stmt], Some(stmt));
                let known = self.published_phis.iter_mut().find(|(known, _)| *known == phi);
                known.into_iter().for_each(|(_, published)| published.union_with(&from));
            }
        }
    }

    fn chooses_published(&self, flow: &Flow, events: &[Bits], phi: StmtId) -> bool {
        let StmtKind::Phi { srcs, .. } = &flow.body.stmts[phi].kind else { return false };
        let block = &flow.body.blocks[flow.body.stmts[phi].block];
        srcs.iter().enumerate().any(|(at, &src)| {
            let value = self.look.value(src);
            let roots = self.look.roots_of(value).iter().map(|&root| root as usize);
            let Some(from) = block.preds.get(at).map(|&pred| &flow.body.blocks[pred]) else { return true };
            let Some(last) = (from.first..from.end).next_back() else {
                return roots.clone().any(|root| !events[root].is_empty());
            };
            // What a handler sees is what the block began with.
            let seen = if from.handlers.is_empty() { last } else { from.first };
            (seen..=last).any(|stmt| self.is_published(value, StmtId(stmt)))
                || roots.clone().any(|root| events[root].contains(last as usize))
        })
    }
}

fn is_among(published: &[Bits], root: u32, stmt: StmtId) -> bool {
    published.get(root as usize).is_some_and(|stmts| stmts.contains(stmt.index()))
}
