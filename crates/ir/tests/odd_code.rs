//! Code that no compiler of today emits: subroutines, handlers entered normally, irreducible loops, and code that
//! the JVM's verifier would refuse.

#[path = "../../classfile/tests/hand_made/builder.rs"]
#[allow(dead_code, reason = "written for other tests")]
mod builder;
mod support;

use builder::ClassBuilder;
use ir::cfg::{Dominators, Edges, Loops, blocks_in_cycles};
use ir::{Body, MethodRef, Problem, Program, dump, verify};
use std::collections::BTreeMap;
use std::sync::Arc;

const ACONST_NULL: u8 = 0x01;
const ICONST_0: u8 = 0x03;
const ICONST_1: u8 = 0x04;
const ISTORE_1: u8 = 0x3c;
const ILOAD_1: u8 = 0x1b;
const ASTORE_1: u8 = 0x4c;
const ASTORE_2: u8 = 0x4d;
const ASTORE_3: u8 = 0x4e;
const ALOAD_1: u8 = 0x2b;
const POP: u8 = 0x57;
const DUP2: u8 = 0x5c;
const LCONST_0: u8 = 0x09;
const IADD: u8 = 0x60;
const IFEQ: u8 = 0x99;
const GOTO: u8 = 0xa7;
const JSR: u8 = 0xa8;
const RET: u8 = 0xa9;
const RETURN: u8 = 0xb1;
const ATHROW: u8 = 0xbf;
const MONITORENTER: u8 = 0xc2;
const MONITOREXIT: u8 = 0xc3;

/// The body of an instance method `run()` with this code, or why there is none.
fn lower(code: &[u8], handlers: &[[u16; 4]]) -> Result<(Program, Arc<Body>), String> {
    let mut builder = ClassBuilder::new();
    builder.version(48, 0);
    let code = builder.code(code, handlers, &[]);
    builder.method("run", &[code]);
    let classes = BTreeMap::from([("T".to_owned(), builder.build())]);
    let mut program = Program::new(Arc::new(support::Memory { classes, below: None }));
    let class = program.class_id("T");
    program.load(class);
    let selector = program.selector("run", "()V");
    let method = program.declared_method(MethodRef { class, selector }).expect("declared");
    match program.body(method) {
        Some(body) => {
            verify(&body)?;
            Ok((program, body))
        }
        None => match program.problems.pop() {
            Some(Problem::Body(_, why)) => Err(why),
            other => panic!("no reason for the missing body: {other:?}"),
        },
    }
}

fn dumped(code: &[u8], handlers: &[[u16; 4]]) -> String {
    let (program, body) = lower(code, handlers).expect("a body");
    dump(&program, &body)
}

fn refused(code: &[u8], handlers: &[[u16; 4]]) -> String {
    lower(code, handlers).err().expect("no body")
}

#[test]
fn a_subroutine_is_copied_to_each_call() {
    // jsr 7; jsr 7; return;  7: astore_2; aconst_null; monitorenter; ret 2
    let code = [JSR, 0, 7, JSR, 0, 4, RETURN, ASTORE_2, ACONST_NULL, MONITORENTER, RET, 2];
    insta::assert_snapshot!(dumped(&code, &[]), @r"
    (v0)
    b0:
           v1 = 3
           v2 = null
           enter v2
           v3 = 6
           v4 = null
           enter v4
           return
    problem: jsr/ret inlined
    ");
}

#[test]
fn nested_subroutines_return_to_their_own_callers() {
    // 0: jsr 4; return;  4: astore_2; jsr 10; ret 2;  10: astore_3; aconst_null; monitorexit; ret 3
    let code = [JSR, 0, 4, RETURN, ASTORE_2, JSR, 0, 5, RET, 2, ASTORE_3, ACONST_NULL, MONITOREXIT, RET, 3];
    insta::assert_snapshot!(dumped(&code, &[]), @r"
    (v0)
    b0:
           v1 = 3
           v2 = 8
           v3 = null
           exit v3
           return
    problem: jsr/ret inlined
    ");
}

#[test]
fn a_subroutine_left_by_a_jump_copies_nothing_after_it() {
    // 0: jsr 4; return;  4: astore_2; iconst_0; ifeq 0 (left: again from the start); ret 2
    let code = [JSR, 0, 4, RETURN, ASTORE_2, ICONST_0, IFEQ, 0xff, 0xfa, RET, 2];
    let (_, body) = lower(&code, &[]).expect("a body");
    // The entry, the loop with the subroutine in it, the return.
    assert_eq!(body.blocks.len(), 3);
}

#[test]
fn recursive_and_stray_subroutines_do_not_hang() {
    // A subroutine that calls itself for ever.
    let (_, body) = lower(&[JSR, 0, 3, POP, JSR, 0xff, 0xff], &[]).expect("a body");
    assert!(body.blocks.len() < 10);
    assert_eq!(refused(&[RET, 1], &[]), "ret outside a subroutine");
    // Subroutines calling each other in every combination.
    let mut code = vec![];
    for _ in 0..40 {
        for target in 0..20i16 {
            let offset = target * 3 - code.len() as i16;
            code.extend([JSR, (offset >> 8) as u8, offset as u8]);
        }
    }
    code.extend([RET, 1]);
    let _ = lower(&code, &[]);
    // One inside the other, twenty thousand deep.
    let mut code = [JSR, 0, 3].repeat(20_000);
    code.extend([RET, 1]);
    assert_eq!(refused(&code, &[]), "subroutines nested too deeply");
}

#[test]
fn a_jump_to_the_first_instruction_gets_an_entry_of_its_own() {
    let (_, body) = lower(&[ICONST_0, IFEQ, 0xff, 0xff, RETURN], &[]).expect("a body");
    let entry = &body.blocks[ir::BlockId(0)];
    assert!(entry.preds.is_empty());
    assert_eq!((entry.first, entry.end, entry.succs.len()), (0, 0, 1));
}

#[test]
fn a_handler_may_also_be_entered_normally() {
    // 0: aconst_null; goto 5; return (dead);  5: astore_1; aload_1; athrow, which is covered by a handler at 5.
    let code = [ACONST_NULL, GOTO, 0, 4, RETURN, ASTORE_1, ALOAD_1, ATHROW];
    insta::assert_snapshot!(dumped(&code, &[[6, 8, 5, 0]]), @r"
    (v0)
    b0: -> b1
           v1 = null
    b1: from b0 b2 throws to b2
           v2 = phi(v1, v3)
           throw v2
    b2: from b1 -> b1
           v3 = catch all
    ");
}

#[test]
fn an_irreducible_cycle_is_a_cycle_but_no_loop() {
    // Two ways into the cycle of 6 and 12.
    let code = [
        ICONST_0, ISTORE_1, ILOAD_1, IFEQ, 0, 9, // to 12
        ILOAD_1, POP, GOTO, 0, 4, RETURN, // 6..12: to 12
        ILOAD_1, ICONST_1, IADD, ISTORE_1, GOTO, 0xff, 0xf6, // 12: back to 6
    ];
    let (_, body) = lower(&code, &[]).expect("a body");
    let dominators = Dominators::new(&body, Edges::All);
    assert!(Loops::new(&body, &dominators, Edges::All).loops.is_empty());
    assert_eq!(blocks_in_cycles(&body, Edges::All), [false, true, true]);
}

#[test]
fn code_the_verifier_would_refuse_has_no_body() {
    for (code, why) in [
        (&[POP, RETURN][..], "stack underflow at 0"),
        (&[ICONST_0, IADD, RETURN], "stack underflow at 1"),
        (&[LCONST_0, POP, RETURN], "half of a long or double used at 1"),
        (&[LCONST_0, ICONST_0, DUP2, RETURN], "half of a long or double used at 2"),
        (&[ICONST_0], "control runs off the end of the code"),
        (&[GOTO, 0, 1, 0], "jump to 1, which starts no instruction"),
        (&[ICONST_0, 0x36, 9, RETURN], "no local 9 at 1"),
        (&[LCONST_0, 0x37, 3, RETURN], "no local 3 at 1"),
        (&[ICONST_0, ICONST_0, IFEQ, 0xff, 0xfe, RETURN], "stack depths differ where paths join"),
        (&[0xfe, RETURN], "unknown opcode at byte 0"),
    ] {
        assert_eq!(lower(code, &[]).err().unwrap_or_default(), why, "{code:x?}");
    }
}

#[test]
fn a_local_read_before_it_is_written_is_undefined() {
    let (_, body) = lower(&[ALOAD_1, ATHROW], &[]).expect("a body");
    assert_eq!(body.vars.len(), 2);
    assert!(body.vars.iter().all(|(_, info)| info.def.is_none() && info.is_ref));
    assert_eq!(body.params.len(), 1);
}

#[test]
fn dead_code_is_dropped_whatever_it_is() {
    let (_, body) = lower(&[RETURN, POP, POP, POP], &[]).expect("a body");
    assert_eq!((body.blocks.len(), body.stmts.count()), (1, 1));
}
