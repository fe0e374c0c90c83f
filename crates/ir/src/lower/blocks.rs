//! Control flow: basic blocks, their edges and the handlers that cover them, in reverse postorder. Cuts blocks so
//! that every throwing instruction of a covered block sees the locals the block began with; assigns no values.

use super::listing::Listing;
use super::order::in_reverse_postorder;
use super::subroutines::{Context, Subroutines, TOP, falls_through};
use classfile::{Code, Insn};
use rustc_hash::FxHashMap;

/// More nodes or edges than any compiler emits (64 KB of code): such a method is hostile or hopeless.
const MAX_NODES: usize = 100_000;
const MAX_EDGES: usize = 1_000_000;

pub(super) struct Graph {
    /// In reverse postorder; the first is the entry and has no predecessors.
    pub(super) nodes: Vec<Node>,
    pub(super) uses_subroutines: bool,
}

pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// Instructions `first..end`, none unless `kind` is `Code`.
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) succs: Vec<u32>,
    pub(super) handlers: Vec<u32>,
    pub(super) preds: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Code,
    /// An empty first block, where a jump leads back to the first instruction.
    Entry,
    /// Where an exception arrives: index of an entry in the exception table. `first` is the handler's code.
    Catch(u32),
}

impl Graph {
    pub(super) fn build(listing: &Listing<'_>, code: &Code<'_>) -> Result<Graph, String> {
        let handlers = Handlers::new(listing, code)?;
        let leaders = leaders(listing, code, &handlers)?;
        let subroutines = Subroutines::find(listing, code);
        let uses_subroutines = subroutines.used();
        let ids = vec![NONE; listing.len() + code.handlers.len()];
        let mut builder = Builder {
            listing,
            leaders,
            handlers,
            subroutines,
            nodes: Vec::new(),
            ids,
            others: FxHashMap::default(),
        };
        builder.discover()?;
        Ok(Graph { nodes: in_reverse_postorder(builder.nodes), uses_subroutines })
    }
}

const NONE: u32 = u32::MAX;

/// The exception table with equal handlers told by one number.
struct Handlers {
    /// `(first instruction, end instruction, number)` in table order.
    ranges: Vec<(u32, u32, u32)>,
    /// Target instruction by table index.
    targets: Vec<u32>,
    catch_all: Vec<bool>,
}

impl Handlers {
    fn new(listing: &Listing<'_>, code: &Code<'_>) -> Result<Handlers, String> {
        let mut numbers: FxHashMap<(u16, Option<&str>), u32> = FxHashMap::default();
        let mut handlers = Handlers { ranges: Vec::new(), targets: Vec::new(), catch_all: Vec::new() };
        for (at, handler) in code.handlers.iter().enumerate() {
            let key = (handler.target, handler.catch_type.as_deref());
            let number = *numbers.entry(key).or_insert(at as u32);
            let first = listing.at_or_after(handler.start.into()) as u32;
            let end = listing.at_or_after(handler.end.into()) as u32;
            handlers.ranges.push((first, end, number));
            handlers.targets.push(listing.at(handler.target.into())?);
            handlers.catch_all.push(handler.catch_type.is_none());
        }
        Ok(handlers)
    }

    /// Numbers of the handlers that cover an instruction, innermost first, as far as one can be reached.
    fn covering(&self, insn: u32) -> Vec<u32> {
        let mut found = Vec::new();
        for &(first, end, number) in &self.ranges {
            if first <= insn && insn < end && !found.contains(&number) {
                found.push(number);
                if self.catch_all[number as usize] {
                    break;
                }
            }
        }
        found
    }
}

fn leaders(listing: &Listing<'_>, code: &Code<'_>, handlers: &Handlers) -> Result<Vec<bool>, String> {
    let mut leaders = vec![false; listing.len() + 1];
    leaders[0] = true;
    for (at, insn) in listing.insns.iter().enumerate() {
        match insn {
            Insn::If { target, .. } | Insn::Goto(target) | Insn::Jsr(target) => {
                leaders[listing.at(*target)? as usize] = true;
            }
            Insn::TableSwitch { default, targets, .. } => {
                for &target in targets.iter().chain([default]) {
                    leaders[listing.at(target)? as usize] = true;
                }
            }
            Insn::LookupSwitch { default, pairs } => {
                for &target in pairs.iter().map(|(_, target)| target).chain([default]) {
                    leaders[listing.at(target)? as usize] = true;
                }
            }
            Insn::Ret(_) | Insn::Return(_) | Insn::Throw => {}
            _ => continue,
        }
        leaders[at + 1] = true;
    }
    let mut covered = vec![0i32; if code.handlers.is_empty() { 0 } else { listing.len() + 1 }];
    for (&(first, end, _), &target) in handlers.ranges.iter().zip(&handlers.targets) {
        leaders[first as usize] = true;
        leaders[end as usize] = true;
        leaders[target as usize] = true;
        covered[first as usize] += 1;
        covered[end as usize] -= 1;
    }
    // A handler sees the locals its block began with, so after a store the next throwing instruction must begin
    // a block of its own.
    let (mut depth, mut stored) = (0, false);
    for at in 0..covered.len().min(listing.len()) {
        depth += covered[at];
        if leaders[at] {
            stored = false;
        } else if depth > 0 && stored && listing.can_throw(at) {
            leaders[at] = true;
            stored = false;
        }
        stored |= matches!(listing.insns[at], Insn::Store { .. } | Insn::Iinc { .. });
    }
    Ok(leaders)
}

struct Builder<'l, 'a> {
    listing: &'l Listing<'a>,
    leaders: Vec<bool>,
    handlers: Handlers,
    subroutines: Subroutines,
    nodes: Vec<Node>,
    /// Nodes outside subroutines: by first instruction, then by handler number.
    ids: Vec<u32>,
    /// Nodes inside subroutines, by the same index and their chain of calls.
    others: FxHashMap<(u32, Context), u32>,
}

impl Builder<'_, '_> {
    /// Visits exactly what can be reached, so dead code never becomes a node.
    fn discover(&mut self) -> Result<(), String> {
        let mut left = Vec::new();
        let entry = self.code_node(0, TOP, &mut left)?;
        let mut edges = 0;
        while let Some((node, context)) = left.pop() {
            let succs = self.succs(node, context, &mut left)?;
            let handlers = self.covering(node, context, &mut left)?;
            edges += succs.len() + handlers.len();
            if edges > MAX_EDGES {
                return Err("too many edges".to_owned());
            }
            self.nodes[node as usize].succs = succs;
            self.nodes[node as usize].handlers = handlers;
        }
        if self.nodes.iter().any(|node| node.succs.contains(&entry) || node.handlers.contains(&entry)) {
            let first = Node { kind: NodeKind::Entry, end: 0, succs: vec![entry], ..self.nodes[0].empty() };
            self.nodes.push(first);
            let last = self.nodes.len() - 1;
            self.nodes.swap(0, last);
            for edge in self.nodes.iter_mut().flat_map(|node| node.succs.iter_mut().chain(&mut node.handlers))
            {
                if *edge == 0 {
                    *edge = last as u32;
                }
            }
        }
        Ok(())
    }

    fn succs(
        &mut self,
        node: u32,
        context: Context,
        left: &mut Vec<(u32, Context)>,
    ) -> Result<Vec<u32>, String> {
        let Node { kind, first, end, .. } = self.nodes[node as usize];
        if let NodeKind::Catch(_) = kind {
            return Ok(vec![self.code_node(first, context, left)?]);
        }
        let listing = self.listing;
        let last = &listing.insns[end as usize - 1];
        let mut succs = Vec::new();
        match last {
            Insn::Goto(target) => succs.push(self.code_node(listing.at(*target)?, context, left)?),
            Insn::If { target, .. } => {
                succs.push(self.code_node(listing.at(*target)?, context, left)?);
                succs.push(self.code_node(end, context, left)?);
            }
            Insn::TableSwitch { default, targets, .. } => {
                for &target in targets.iter().chain([default]) {
                    let succ = self.code_node(listing.at(target)?, context, left)?;
                    succs.push(succ);
                }
                dedup(&mut succs);
            }
            Insn::LookupSwitch { default, pairs } => {
                for &target in pairs.iter().map(|(_, target)| target).chain([default]) {
                    let succ = self.code_node(listing.at(target)?, context, left)?;
                    succs.push(succ);
                }
                dedup(&mut succs);
            }
            Insn::Jsr(target) => {
                let target = listing.at(*target)?;
                let inside = self.subroutines.call(context, target, end)?;
                succs.push(self.code_node(target, inside, left)?);
            }
            Insn::Ret(_) => {
                let (target, outside) = self.subroutines.ret(context)?;
                succs.push(self.code_node(target, outside, left)?);
            }
            insn if falls_through(insn) => succs.push(self.code_node(end, context, left)?),
            _ => {}
        }
        Ok(succs)
    }

    fn covering(
        &mut self,
        node: u32,
        context: Context,
        left: &mut Vec<(u32, Context)>,
    ) -> Result<Vec<u32>, String> {
        let Node { kind, first, end, .. } = self.nodes[node as usize];
        let throws = || (first..end).any(|insn| self.listing.can_throw(insn as usize));
        if kind != NodeKind::Code || self.handlers.ranges.is_empty() || !throws() {
            return Ok(Vec::new());
        }
        let numbers = self.handlers.covering(first);
        numbers.into_iter().map(|number| self.catch_node(number, context, left)).collect()
    }

    fn code_node(
        &mut self,
        first: u32,
        from: Context,
        left: &mut Vec<(u32, Context)>,
    ) -> Result<u32, String> {
        if first as usize >= self.listing.len() {
            return Err("control runs off the end of the code".to_owned());
        }
        let context = self.subroutines.enter(from, first);
        self.node(first, context, left, |builder| {
            let mut end = first + 1;
            while !builder.leaders[end as usize] && (end as usize) < builder.listing.len() {
                end += 1;
            }
            Node { end, ..Node::code(first) }
        })
    }

    fn catch_node(
        &mut self,
        number: u32,
        from: Context,
        left: &mut Vec<(u32, Context)>,
    ) -> Result<u32, String> {
        let first = self.handlers.targets[number as usize];
        let context = self.subroutines.enter(from, first);
        let key = self.listing.len() as u32 + number;
        self.node(key, context, left, |_| Node { kind: NodeKind::Catch(number), ..Node::code(first) })
    }

    fn node(
        &mut self,
        key: u32,
        context: Context,
        left: &mut Vec<(u32, Context)>,
        make: impl FnOnce(&Self) -> Node,
    ) -> Result<u32, String> {
        let fresh = self.nodes.len() as u32;
        let id = if context == TOP {
            &mut self.ids[key as usize]
        } else {
            self.others.entry((key, context)).or_insert(NONE)
        };
        if *id != NONE {
            return Ok(*id);
        }
        *id = fresh;
        if fresh as usize >= MAX_NODES {
            return Err("too many blocks".to_owned());
        }
        let node = make(self);
        self.nodes.push(node);
        left.push((fresh, context));
        Ok(fresh)
    }
}

impl Node {
    pub(super) fn code(first: u32) -> Node {
        Node {
            kind: NodeKind::Code,
            first,
            end: first,
            succs: Vec::new(),
            handlers: Vec::new(),
            preds: Vec::new(),
        }
    }

    fn empty(&self) -> Node {
        Node::code(self.first)
    }
}

/// Keeps the first of equal successors: a switch tells its cases not apart.
fn dedup(succs: &mut Vec<u32>) {
    let mut seen = rustc_hash::FxHashSet::default();
    succs.retain(|&succ| seen.insert(succ));
}
