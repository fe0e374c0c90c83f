//! Dominators and loops of `java/Loops.java`, and dominators of some JDK classes against their definition.

mod support;

use ir::cfg::{Dominators, Edges, Loops, blocks_in_cycles};
use ir::{BlockId, Body, Program};
use std::sync::Arc;

fn body(name: &str) -> Arc<Body> {
    let source = support::Memory { classes: support::java().clone(), below: None };
    let mut program = Program::new(Arc::new(source));
    let class = program.class_id("Loops");
    let methods = program.load(class).methods.clone();
    let named = |&method: &ir::MethodId| program.selector_text(program.method(method).selector).0 == name;
    let method = methods.into_iter().find(named).expect("such a method");
    program.body(method).expect("a body")
}

fn loops(body: &Body, edges: Edges) -> Vec<(u32, Vec<u32>)> {
    let found = Loops::new(body, &Dominators::new(body, edges), edges);
    let numbers = |blocks: &[BlockId]| blocks.iter().map(|block| block.0).collect();
    found.loops.iter().map(|found| (found.header.0, numbers(&found.blocks))).collect()
}

#[test]
fn nested_loops_are_told_apart() {
    let body = body("nested");
    let (outer, inner) = match &loops(&body, Edges::All)[..] {
        [outer, inner] => (outer.clone(), inner.clone()),
        other => panic!("{other:?}"),
    };
    assert!(inner.1.iter().all(|block| outer.1.contains(block)));
    let found = Loops::new(&body, &Dominators::new(&body, Edges::All), Edges::All);
    assert_eq!(found.header(BlockId(inner.0)), Some(BlockId(inner.0)));
    assert_eq!(found.header(BlockId(outer.0)), Some(BlockId(outer.0)));
    assert_eq!(found.header(body.entry()), None);
}

#[test]
fn a_handler_that_covers_itself_is_a_loop_of_exceptions_only() {
    let body = body("locked");
    assert_eq!(loops(&body, Edges::Normal), []);
    assert_eq!(loops(&body, Edges::All).len(), 1);
    assert!(blocks_in_cycles(&body, Edges::Normal).iter().all(|cyclic| !cyclic));
}

#[test]
fn dominators_agree_with_their_definition() {
    let jdk = Arc::new(support::Jdk::open());
    let mut program = Program::new(jdk);
    for name in ["java/util/HashMap", "java/util/Formatter", "java/util/concurrent/ConcurrentHashMap"] {
        let class = program.class_id(name);
        for method in program.load(class).methods.clone() {
            let Some(body) = program.body(method) else { continue };
            for edges in [Edges::Normal, Edges::All] {
                check_dominators(&body, edges);
            }
        }
    }
}

/// `a` dominates `b` iff `b` cannot be reached around `a`.
fn check_dominators(body: &Body, edges: Edges) {
    let dominators = Dominators::new(body, edges);
    let all = reached(body, edges, None);
    for a in body.blocks.ids() {
        let around = reached(body, edges, Some(a));
        for b in body.blocks.ids() {
            let (at, over) = (a.0 as usize, b.0 as usize);
            let expected = all[at] && all[over] && (a == b || !around[over]);
            assert_eq!(dominators.dominates(a, b), expected, "{a:?} {b:?}");
        }
        let immediate = dominators.immediate(a);
        assert!(immediate.is_none_or(|immediate| immediate != a && dominators.dominates(immediate, a)));
    }
}

fn reached(body: &Body, edges: Edges, without: Option<BlockId>) -> Vec<bool> {
    let mut seen = vec![false; body.blocks.len()];
    let mut left = vec![body.entry()];
    while let Some(block) = left.pop() {
        if Some(block) != without && !std::mem::replace(&mut seen[block.0 as usize], true) {
            left.extend(body.successors(block, edges));
        }
    }
    seen
}
