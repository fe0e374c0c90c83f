//! The verifier refuses bodies that are broken, each in one way.

mod support;

use ir::{BlockId, Body, Program, StmtId, StmtKind, verify};
use std::sync::Arc;

fn body(class: &str, name: &str) -> Body {
    let source = support::Memory { classes: support::java().clone(), below: None };
    let mut program = Program::new(Arc::new(source));
    let class = program.class_id(class);
    let methods = program.load(class).methods.clone();
    let named = |&method: &ir::MethodId| program.selector_text(program.method(method).selector).0 == name;
    let method = methods.into_iter().find(named).expect("such a method");
    Body::clone(&program.body(method).expect("a body"))
}

fn find(body: &Body, wanted: impl Fn(&StmtKind) -> bool) -> StmtId {
    body.stmts.iter().find(|(_, stmt)| wanted(&stmt.kind)).map(|(id, _)| id).expect("such a statement")
}

fn refused(mut body: Body, damage: impl FnOnce(&mut Body)) -> String {
    verify(&body).expect("a valid body");
    damage(&mut body);
    verify(&body).expect_err("must be refused")
}

#[test]
fn broken_bodies_are_refused() {
    let of_loop = || body("Loop", "sum");
    let of_handlers = || body("Handlers", "run");
    let wrong = refused(of_loop(), |body| {
        let phi = find(body, |kind| matches!(kind, StmtKind::Phi { .. }));
        let StmtKind::Phi { srcs, .. } = &mut body.stmts[phi].kind else { return };
        srcs.swap(0, 1);
    });
    assert!(wrong.contains("without being defined"), "{wrong}");
    let wrong = refused(of_loop(), |body| {
        let phi = find(body, |kind| matches!(kind, StmtKind::Phi { .. }));
        let StmtKind::Phi { srcs, .. } = &mut body.stmts[phi].kind else { return };
        srcs.pop();
    });
    assert!(wrong.contains("phi sources"), "{wrong}");
    let wrong = refused(of_loop(), |body| {
        let compute = find(body, |kind| matches!(kind, StmtKind::Compute { args, .. } if args.len() == 2));
        let own = body.stmts[compute].kind.def().expect("a definition");
        let StmtKind::Compute { args, .. } = &mut body.stmts[compute].kind else { return };
        args[0] = own;
    });
    assert!(wrong.contains("without being defined"), "{wrong}");
    let wrong = refused(of_loop(), |body| body.blocks[BlockId(1)].preds.reverse());
    assert!(wrong.contains("without being defined"), "{wrong}");
    let wrong = refused(of_loop(), |body| body.blocks[BlockId(1)].preds.truncate(1));
    assert!(wrong.contains("edges and predecessors"), "{wrong}");
    let wrong = refused(of_handlers(), |body| {
        let catch = find(body, |kind| matches!(kind, StmtKind::Catch { .. }));
        body.stmts[StmtId(catch.0 + 1)].kind = body.stmts[catch].kind.clone();
    });
    assert!(wrong.contains("catch out of place"), "{wrong}");
    let wrong = refused(of_handlers(), |body| {
        // What a covered block computes is not known to its handler.
        let call = find(body, |kind| matches!(kind, StmtKind::Call { dst: Some(_), .. }));
        let computed = body.stmts[call].kind.def().expect("a definition");
        let phi = find(body, |kind| matches!(kind, StmtKind::Phi { .. }));
        let StmtKind::Phi { srcs, .. } = &mut body.stmts[phi].kind else { return };
        srcs[0] = computed;
    });
    assert!(wrong.contains("without being defined"), "{wrong}");
    let wrong = refused(of_handlers(), |body| {
        let call = find(body, |kind| matches!(kind, StmtKind::Call { dst: Some(_), .. }));
        let param = body.params[0];
        let StmtKind::Call { dst, .. } = &mut body.stmts[call].kind else { return };
        *dst = Some(param);
    });
    assert!(wrong.contains("definition"), "{wrong}");
}
