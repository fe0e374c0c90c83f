//! Numbers for the statements and variables of a changed body, such that those it had before keep theirs: what was
//! concluded about them still names them. Knows nothing of what is concluded.

use crate::body::{Body, StmtId, Var, VarInfo};
use crate::stmts::Stmts;
use arena::{Id, IndexVec};

/// Left free after statements for which there was no room, so that the next ones there find some.
const ROOM: usize = 8;

/// Not left free where others have to move no further than this many statements.
const NEAR: usize = 16;

/// More free numbers than statements, and more than this, are not worth it.
const WASTE: usize = 64;

/// The same body with other numbers. Each statement that `kept` knows has the one it says, as far as all numbers can
/// ascend in the order of the body; the first statement is always 0. Each variable has the one that `vars` says, and
/// no two the same.
pub(super) fn place(body: &Body, kept: &IndexVec<StmtId, Option<StmtId>>, vars: &IndexVec<Var, Var>) -> Body {
    let numbers = numbers(body, kept);
    let mut placed = Body { stmts: Stmts::default(), vars: placed_vars(body, vars), ..body.clone() };
    placed.params.iter_mut().for_each(|param| *param = vars[*param]);
    let mut end = 0;
    for block in body.blocks.ids() {
        let mut of_block = body.block_stmts(block).peekable();
        let first = of_block.peek().map_or(end, |&(id, _)| numbers[id].0);
        end = first;
        for (id, stmt) in of_block {
            placed.stmts.skip_to(numbers[id], block);
            let mut stmt = stmt.clone();
            stmt.kind.rename(|var| *var = vars[*var]);
            end = placed.stmts.push(stmt).0 + 1;
        }
        (placed.blocks[block].first, placed.blocks[block].end) = (first, end);
    }
    for info in placed.vars.iter_mut() {
        info.def = info.def.map(|def| numbers[def]);
    }
    placed
}

impl Body {
    /// The same body with numbers that say nothing of what it was before, and none of them free.
    pub fn dense(&self) -> Body {
        place(self, &(0..self.stmts.bound()).map(|_| None).collect(), &in_order(self))
    }
}

/// Numbers by which variables are those they were, as far as is known: parameters come first, and what is new takes a
/// number that is free.
pub(super) fn var_numbers(body: &Body, kept: &IndexVec<Var, Option<Var>>) -> IndexVec<Var, Var> {
    let mut taken = vec![false; body.vars.len().max(kept.len())];
    let mut take = |number: Var| {
        if taken.len() <= number.index() {
            taken.resize(number.index() + 1, false);
        }
        (!std::mem::replace(&mut taken[number.index()], true)).then_some(number)
    };
    let mut numbers: IndexVec<Var, Option<Var>> = body.vars.iter().map(|_| None).collect();
    for &param in &body.params {
        numbers[param] = take(param);
    }
    for var in body.vars.ids().filter(|var| !body.params.contains(var)) {
        numbers[var] = kept[var].and_then(&mut take);
    }
    let mut free = 0;
    let fill = |var: Var| {
        numbers[var].or_else(|| take(var)).unwrap_or_else(|| {
            loop {
                free += 1;
                if let Some(number) = take(Var::new(free - 1)) {
                    return number;
                }
            }
        })
    };
    body.vars.ids().map(fill).collect()
}

/// Parameters, then variables in the order in which statements define them, then what nothing defines.
fn in_order(body: &Body) -> IndexVec<Var, Var> {
    let defined = body.stmts.iter().filter_map(|(_, stmt)| stmt.kind.def());
    let used = body.stmts.iter().flat_map(|(_, stmt)| stmt.kind.uses());
    let mut numbers: IndexVec<Var, Option<Var>> = body.vars.iter().map(|_| None).collect();
    let mut next = 0;
    for var in body.params.iter().copied().chain(defined).chain(used).chain(body.vars.ids()) {
        if numbers[var].is_none() {
            numbers[var] = Some(Var::new(next));
            next += 1;
        }
    }
    numbers.iter().filter_map(|(_, &number)| number).collect()
}

/// Numbers that nobody has stand for nothing.
fn placed_vars(body: &Body, numbers: &IndexVec<Var, Var>) -> IndexVec<Var, VarInfo> {
    let mut is_mentioned = vec![false; body.vars.len()];
    let mentioned = body.stmts.iter().flat_map(|(_, stmt)| stmt.kind.uses().chain(stmt.kind.def()));
    body.params.iter().copied().chain(mentioned).for_each(|var| is_mentioned[var.index()] = true);
    let there = || body.vars.iter().filter(|(var, _)| is_mentioned[var.index()]);
    let bound = there().map(|(var, _)| numbers[var].index() + 1).max().unwrap_or(0);
    let mut placed: IndexVec<Var, VarInfo> =
        (0..bound).map(|_| VarInfo { name: None, is_ref: false, def: None }).collect();
    for (var, info) in there() {
        placed[numbers[var]] = info.clone();
    }
    placed
}

/// For each statement the number it gets.
fn numbers(body: &Body, kept: &IndexVec<StmtId, Option<StmtId>>) -> IndexVec<StmtId, StmtId> {
    let ids: Vec<StmtId> = body.stmts.ids().collect();
    let mut numbers: IndexVec<StmtId, StmtId> = (0..body.stmts.bound()).map(StmtId::new).collect();
    let (mut next, mut at) = (0, 0);
    while at < ids.len() {
        // Those that are new, up to one that has a number.
        let new = ids[at..].iter().take_while(|&&id| kept[id].is_none()).count();
        for &id in &ids[at..at + new] {
            numbers[id] = StmtId::new(next);
            next += 1;
        }
        at += new;
        let Some(&id) = ids.get(at) else { break };
        let number = |id: StmtId| kept[id].map_or(0, StmtId::index);
        let is_free_soon = || (1..NEAR).any(|n| ids.get(at + n).is_some_and(|&id| number(id) >= next + n));
        next = match number(id) {
            _ if at == 0 => 0,
            before if next <= before => before,
            _ if new == 0 || is_free_soon() => next,
            _ => next + ROOM,
        };
        numbers[id] = StmtId::new(next);
        (next, at) = (next + 1, at + 1);
    }
    if next > 2 * ids.len() + WASTE {
        for (at, &id) in ids.iter().enumerate() {
            numbers[id] = StmtId::new(at);
        }
    }
    numbers
}
