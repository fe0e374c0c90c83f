//! Which statements survive an edit: on bodies of the JDK that lose a statement, and on small ones by hand.

mod support;

use ir::{Alignment, Block, BlockId, Body, Const, Program, Stmt, StmtId, StmtKind, Var, VarInfo, verify};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bodies of JDK classes, every `stride`th method of them.
fn bodies(stride: usize) -> Vec<Arc<Body>> {
    let jdk = Arc::new(support::Jdk::open());
    let names = jdk.class_names("java.base/java/util/");
    let mut program = Program::new(jdk);
    let mut found = Vec::new();
    for name in names {
        let class = program.class_id(&name);
        for method in program.load(class).methods.clone() {
            found.extend(program.body(method));
        }
    }
    found.into_iter().step_by(stride).collect()
}

fn check(old: &Body, new: &Body) -> Alignment {
    let alignment = Alignment::of(old, new);
    let kept: Vec<(StmtId, StmtId)> = alignment.kept_stmts().collect();
    assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    for &(before, after) in &kept {
        let (before, after) = (&old.stmts[before].kind, &new.stmts[after].kind);
        assert_eq!(std::mem::discriminant(before), std::mem::discriminant(after));
        if let (Some(before), Some(after)) = (before.def(), after.def()) {
            assert_eq!(alignment.vars[after], Some(before));
            assert_eq!(old.vars[before].is_ref, new.vars[after].is_ref);
        }
    }
    let vars: BTreeSet<_> = alignment.kept_vars().map(|(before, _)| before).collect();
    assert_eq!(vars.len(), alignment.kept_vars().count(), "one variable is two");
    // Whatever is not said to have changed has the same operands.
    for (before, after) in kept {
        let changed = alignment.changed_new().binary_search(&after).is_ok();
        assert_eq!(changed, alignment.changed_old().binary_search(&before).is_ok());
        let (before, after) = (&old.stmts[before].kind, &new.stmts[after].kind);
        if !changed && !matches!(after, StmtKind::Phi { .. }) {
            assert!(after.uses().map(|var| alignment.vars[var]).eq(before.uses().map(Some)));
        }
    }
    alignment
}

fn random(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

#[test]
fn a_body_is_itself() {
    for body in bodies(50) {
        let alignment = check(&body, &body);
        assert!(alignment.stmts.iter().all(|(new, &old)| old == Some(new)));
        assert_eq!(alignment.changed_old(), []);
        assert_eq!(alignment.changed_new(), []);
    }
}

#[test]
fn a_body_without_a_statement_lacks_just_that() {
    let mut seed = 3;
    let (mut tried, mut calls) = (0, 0);
    for old in bodies(3) {
        let stmt = StmtId(random(&mut seed, old.stmts.bound()) as u32);
        let Some(new) = old.without(stmt) else { continue };
        verify(&new).expect("valid");
        let there = check(&old, &new);
        let back = check(&new, &old);
        let kept: BTreeSet<StmtId> = there.kept_stmts().map(|(before, _)| before).collect();
        let lost: BTreeSet<StmtId> = old.stmts.ids().filter(|id| !kept.contains(id)).collect();
        // Calls that saw the statement through their arguments are others now.
        assert!(lost.contains(&stmt));
        for &other in lost.iter().filter(|&&id| id != stmt) {
            calls += 1;
            assert!(matches!(old.stmts[other].kind, StmtKind::Call { .. }));
        }
        let came = back.stmts.iter().filter(|(_, before)| before.is_none());
        assert_eq!(lost, came.map(|(id, _)| id).collect());
        assert_eq!(there.changed_old(), back.changed_new());
        assert_eq!(there.changed_new(), back.changed_old());
        // What uses a result that is no longer there has changed, and nothing else.
        let uses_lost =
            |kind: &StmtKind| kind.uses().any(|var| old.vars[var].def.is_some_and(|def| lost.contains(&def)));
        let changed = old.stmts.iter().filter(|(id, other)| lost.contains(id) || uses_lost(&other.kind));
        assert_eq!(there.changed_old().to_vec(), changed.map(|(id, _)| id).collect::<Vec<_>>());
        tried += 1;
    }
    println!("{tried} bodies, {calls} calls changed with their arguments");
    assert!(tried > 200);
}

#[test]
fn statements_keep_their_numbers_while_others_come_and_go() {
    let mut seed = 5;
    let (mut states, mut moved) = (0, 0);
    for original in bodies(7) {
        let original = Body::clone(&original);
        let mut body = original.clone();
        let mut gone: Vec<StmtId> = Vec::new();
        for _ in 0..6 {
            if gone.is_empty() || random(&mut seed, 3) > 0 {
                gone.push(StmtId(random(&mut seed, original.stmts.bound()) as u32));
            } else {
                gone.swap_remove(random(&mut seed, gone.len()));
            }
            let mut behind: Vec<StmtId> = gone.clone();
            behind.sort_unstable_by(|a, b| b.cmp(a));
            behind.dedup();
            let without = |body: Body, &stmt: &StmtId| body.without(stmt).unwrap_or(body);
            let wanted = behind.iter().fold(original.clone(), without);
            let (placed, alignment) = Alignment::in_place(&body, &wanted);
            verify(&placed).expect("valid");
            assert_eq!(placed.dense(), wanted.dense());
            assert!(alignment.kept_vars().all(|(before, after)| before == after), "variables keep theirs");
            assert_eq!(placed.stmts.ids().next(), wanted.stmts.ids().next());
            moved += alignment.kept_stmts().filter(|(before, after)| before != after).count();
            states += 1;
            body = placed;
        }
        // With everything back in its place there is nothing left to see.
        assert_eq!(Alignment::in_place(&body, &original).0.dense(), original.dense());
    }
    println!("{states} states, {moved} statements moved");
    assert!(states > 500 && moved < states);
}

#[test]
fn the_next_statements_find_room_where_there_was_none() {
    let three = constants(30, |at| at);
    let four = constants(31, |at| {
        if at < 10 {
            at
        } else if at == 10 {
            100
        } else {
            at - 1
        }
    });
    let five = constants(32, |at| {
        if at < 10 {
            at
        } else if at < 12 {
            90 + at
        } else {
            at - 2
        }
    });
    let (first, _) = Alignment::in_place(&three, &four);
    let (_, alignment) = Alignment::in_place(&first, &five);
    assert!(first.stmts.bound() > first.stmts.count());
    assert!(alignment.kept_stmts().all(|(before, after)| before == after));
}

#[test]
fn any_two_bodies_can_be_aligned() {
    let bodies = bodies(5);
    for pair in bodies.windows(2) {
        check(&pair[0], &pair[1]);
    }
}

/// `count` constants, each of them `value(its position)`.
fn constants(count: i64, value: impl Fn(i64) -> i64) -> Body {
    let (line, pc, block) = (0, 0, BlockId(0));
    let constant = |at: i64| {
        let kind = StmtKind::Const { dst: Var(at as u32), value: Const::Int(value(at)) };
        Stmt { kind, block, line, pc }
    };
    let var = |at: i64| VarInfo { name: None, is_ref: false, def: Some(StmtId(at as u32)) };
    let blocks = [Block { first: 0, end: count as u32, ..Block::default() }].into_iter().collect();
    Body {
        stmts: (0..count).map(constant).collect(),
        vars: (0..count).map(var).collect(),
        blocks,
        ..Body::default()
    }
}

#[test]
fn long_bodies_take_no_quadratic_time() {
    let start = Instant::now();
    let old = constants(40_000, |at| at);
    // Nothing in common, everything in another order, every third other, a few values over and over.
    check(&old, &constants(40_001, |at| -at - 1));
    check(&old, &constants(40_001, |at| at * 7919 % 40_001));
    let every_third = check(&old, &constants(40_001, |at| if at % 3 == 0 { -at - 1 } else { at }));
    assert!(every_third.kept_stmts().count() > 20_000);
    check(&constants(40_000, |at| at * at % 11), &constants(40_001, |at| at * at % 13));
    let spent = start.elapsed();
    println!("{spent:?}");
    assert!(spent < Duration::from_secs(20), "{spent:?}");
}
