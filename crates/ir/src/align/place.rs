//! Numbers for the statements of a changed body, such that those it had before keep theirs: what was concluded about them
//! still names them. Knows nothing of what is concluded.

use crate::body::{Body, StmtId};
use crate::stmts::Stmts;
use arena::{Id, IndexVec};

/// Left free after statements for which there was no room, so that the next ones there find some.
const ROOM: usize = 8;

/// Not left free where others have to move no further than this many statements.
const NEAR: usize = 16;

/// More free numbers than statements, and more than this, are not worth it.
const WASTE: usize = 64;

/// The same body with other numbers: each statement that `kept` knows has the one it says, as far as all numbers can
/// ascend in the order of the body. The first statement is always 0.
pub(super) fn place(body: &Body, kept: &IndexVec<StmtId, Option<StmtId>>) -> Body {
    let numbers = numbers(body, kept);
    let mut placed = Body { stmts: Stmts::default(), ..body.clone() };
    let mut end = 0;
    for block in body.blocks.ids() {
        let mut of_block = body.block_stmts(block).peekable();
        let first = of_block.peek().map_or(end, |&(id, _)| numbers[id].0);
        end = first;
        for (id, stmt) in of_block {
            placed.stmts.skip_to(numbers[id], block);
            end = placed.stmts.push(stmt.clone()).0 + 1;
        }
        (placed.blocks[block].first, placed.blocks[block].end) = (first, end);
    }
    for info in placed.vars.iter_mut() {
        info.def = info.def.map(|def| numbers[def]);
    }
    placed
}

impl Body {
    /// The same body without free numbers, as it is when it was lowered only now.
    pub fn dense(&self) -> Body {
        place(self, &(0..self.stmts.bound()).map(|_| None).collect())
    }
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
