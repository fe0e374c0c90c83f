//! Which statements survive an edit: on bodies of the JDK that lose a statement, and on small ones by hand.

mod support;

use ir::{Alignment, Body, Program, StmtId, StmtKind, verify};
use std::collections::BTreeSet;
use std::sync::Arc;

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
        let changed = alignment.changed_new().contains(&after);
        assert_eq!(changed, alignment.changed_old().contains(&before));
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
    for old in bodies(7) {
        let stmt = StmtId(random(&mut seed, old.stmts.len()) as u32);
        let Some(new) = old.without(stmt) else { continue };
        verify(&new).expect("valid");
        let there = check(&old, &new);
        let back = check(&new, &old);
        // Calls that saw the statement through their arguments are others now.
        let lost: Vec<StmtId> =
            old.stmts.ids().filter(|&id| there.kept_stmts().all(|(before, _)| before != id)).collect();
        assert!(lost.contains(&stmt));
        for &other in lost.iter().filter(|&&id| id != stmt) {
            calls += 1;
            assert!(matches!(old.stmts[other].kind, StmtKind::Call { .. }));
        }
        let came: Vec<StmtId> =
            back.stmts.iter().filter_map(|(new, old)| old.is_none().then_some(new)).collect();
        assert_eq!(lost, came);
        assert_eq!(there.changed_old(), back.changed_new());
        // Users of what it defined have changed, and nobody else.
        let defined = old.stmts[stmt].kind.def();
        let users = old.stmts.iter().filter(|(_, user)| user.kind.uses().any(|var| Some(var) == defined));
        let users: BTreeSet<StmtId> = users.map(|(id, _)| id).chain([stmt]).chain(lost.clone()).collect();
        let users_of_lost = old.stmts.iter().filter(|(_, user)| {
            user.kind.uses().any(|var| old.vars[var].def.is_some_and(|def| lost.contains(&def)))
        });
        let expected: BTreeSet<StmtId> = users.into_iter().chain(users_of_lost.map(|(id, _)| id)).collect();
        assert_eq!(there.changed_old().iter().copied().collect::<BTreeSet<_>>(), expected);
        tried += 1;
    }
    println!("{tried} bodies, {calls} calls changed with their arguments");
    assert!(tried > 200);
}
