//! The decoder on instructions that today's compilers avoid, and on code that is no code.

use crate::builder::ClassBuilder;
use classfile::{ArrayKind, Branch, Const, Error, Insn, NumKind, parse};

/// Pcs and instructions of a method with this code, printed; ends with the error, if there is one.
fn decode_in(mut builder: ClassBuilder, code: &[u8]) -> Vec<String> {
    let code = builder.code(code, &[], &[]);
    builder.method("m", &[code]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    let code = class.methods[0].code.as_ref().unwrap();
    let shown = |insn: Result<(u32, Insn<'_>), Error>| match insn {
        Ok((pc, insn)) => format!("{pc}: {insn:?}"),
        Err(error) => error.to_string(),
    };
    code.instructions(&class).map(shown).collect()
}

fn decode(code: &[u8]) -> Vec<String> {
    decode_in(ClassBuilder::new(), code)
}

fn show(insns: &[(u32, Insn<'_>)]) -> Vec<String> {
    insns.iter().map(|(pc, insn)| format!("{pc}: {insn:?}")).collect()
}

#[test]
fn subroutines_are_decoded() {
    let code = [0xa8, 0, 4, 0xb1, 0x4c, 0xa9, 1, 0xc9, 0xff, 0xff, 0xff, 0xfd, 0xc4, 0xa9, 1, 2];
    let expected = [
        (0, Insn::Jsr(4)),
        (3, Insn::Return(None)),
        (4, Insn::Store { slot: 1, num: None }),
        (5, Insn::Ret(1)),
        (7, Insn::Jsr(4)),
        (12, Insn::Ret(0x102)),
    ];
    assert_eq!(decode(&code), show(&expected));
}

#[test]
fn wide_instructions_have_wide_operands() {
    let code = [
        [0xc4, 0x15, 1, 0].as_slice(),
        &[0xc4, 0x3a, 0xff, 0xff],
        &[0xc4, 0x84, 1, 2, 0xff, 0x38],
        &[0x84, 7, 0xff],
        &[0xc8, 0xff, 0xff, 0xff, 0xef],
    ];
    let expected = [
        (0, Insn::Load { slot: 256, num: Some(NumKind::Int) }),
        (4, Insn::Store { slot: 0xffff, num: None }),
        (8, Insn::Iinc { slot: 258, by: -200 }),
        (14, Insn::Iinc { slot: 7, by: -1 }),
        (17, Insn::Goto(0)),
    ];
    assert_eq!(decode(&code.concat()), show(&expected));
}

#[test]
fn switches_are_aligned_to_the_start_of_the_code() {
    for padding in 0..4 {
        let mut code = vec![0; 3 - padding];
        let pc = code.len() as u32;
        code.push(0xaa);
        code.extend(vec![0; padding]);
        code.extend([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        let switch = Insn::TableSwitch { default: pc, low: -1, targets: vec![pc + 1, pc] };
        assert_eq!(decode(&code).last(), show(&[(pc, switch)]).last());
    }
}

#[test]
fn lookup_switches_keep_their_keys() {
    let mut code = vec![0xab, 0, 0, 0];
    code.extend([0, 0, 0, 20, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xb1]);
    let switch = Insn::LookupSwitch { default: 20, pairs: vec![(i32::MIN, 0)] };
    assert_eq!(decode(&code), show(&[(0, switch), (20, Insn::Return(None))]));
}

#[test]
fn switches_that_claim_too_much_fail_at_the_end() {
    let full_range = [0xaa, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    assert_eq!(decode(&full_range), ["unexpected end at byte 20"]);
    let many_pairs = [0xab, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff];
    assert_eq!(decode(&many_pairs), ["unexpected end at byte 12"]);
    let fewer_than_none = [0xab, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(decode(&fewer_than_none), ["lookupswitch with a negative count at byte 8"]);
    let upside_down = [0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(decode(&upside_down), ["tableswitch with low above high at byte 0"]);
}

#[test]
fn branches_may_not_leave_the_code() {
    assert_eq!(decode(&[0xa7, 0, 2]), show(&[(0, Insn::Goto(2))]));
    assert_eq!(decode(&[0xa7, 0, 3]), ["branch out of the code at byte 1"]);
    assert_eq!(decode(&[0xa7, 0xff, 0xff]), ["branch out of the code at byte 1"]);
    assert_eq!(decode(&[0xc8, 0x80, 0, 0, 0]), ["branch out of the code at byte 1"]);
    let null_check = Insn::If { cond: Branch::NonNull, target: 0 };
    assert_eq!(decode(&[0xc7, 0, 0]), show(&[(0, null_check)]));
}

#[test]
fn nothing_is_decoded_after_an_error() {
    let nop = show(&[(0, Insn::Nop)]).remove(0);
    for (bad, what) in [(0xca, "unknown opcode"), (0xcb, "unknown opcode"), (0xff, "unknown opcode")] {
        assert_eq!(decode(&[0, bad, 0, 0]), [nop.clone(), format!("{what} at byte 1")]);
    }
    assert_eq!(decode(&[0, 0xc4, 0x60, 0, 0]), [nop.clone(), "instruction cannot be wide at byte 2".into()]);
    assert_eq!(decode(&[0, 0xbc, 3, 0]), [nop.clone(), "unknown primitive array type at byte 2".into()]);
    assert_eq!(decode(&[0, 0x12, 0, 0]), [nop, "not a loadable constant at byte 2".into()]);
}

#[test]
fn array_types_follow_the_specification() {
    let code: Vec<u8> = (4..=11).flat_map(|kind| [0xbc, kind]).collect();
    use ArrayKind::*;
    let kinds = [Boolean, Char, Float, Double, Byte, Short, Int, Long];
    let expected: Vec<_> = (0..).step_by(2).zip(kinds.map(Insn::NewPrimArray)).collect();
    assert_eq!(decode(&code), show(&expected));
}

#[test]
fn dynamic_constants_and_call_sites_are_named() {
    let mut builder = ClassBuilder::new();
    let constant = builder.dynamic(17, 3, "lazy", "J").to_be_bytes();
    let site = builder.dynamic(18, 4, "run", "()V").to_be_bytes();
    let code = [0x14, constant[0], constant[1], 0x12, constant[1], 0xba, site[0], site[1], 0, 0];
    let lazy = || Const::Dynamic { bootstrap: 3, name: "lazy".into(), descriptor: "J".into() };
    let expected = [
        (0, Insn::Const(lazy())),
        (3, Insn::Const(lazy())),
        (5, Insn::InvokeDynamic { bootstrap: 4, name: "run".into(), descriptor: "()V".into() }),
    ];
    assert_eq!(decode_in(builder, &code), show(&expected));
}

#[test]
fn constants_must_fit_their_instruction() {
    let mut builder = ClassBuilder::new();
    let long = builder.long(7).to_be_bytes();
    assert_eq!(decode_in(builder, &[0x12, long[1]]), ["constant too wide for one slot at byte 1"]);
    let mut builder = ClassBuilder::new();
    let int = builder.int(7).to_be_bytes();
    assert_eq!(decode_in(builder, &[0x14, int[0], int[1]]), ["not a constant of two slots at byte 1"]);
}

#[test]
fn the_slot_after_a_long_is_no_constant() {
    let mut builder = ClassBuilder::new();
    let long = builder.long(7);
    assert_eq!(decode_in(builder, &[0x12, long as u8 + 1]), ["not a loadable constant at byte 1"]);
}

#[test]
fn members_must_be_of_the_kind_the_instruction_takes() {
    let mut builder = ClassBuilder::new();
    let field = builder.member(9, "C", "f", "I").to_be_bytes();
    assert_eq!(decode_in(builder, &[0xb6, field[0], field[1]]), ["not a method constant at byte 1"]);
    let mut builder = ClassBuilder::new();
    let method = builder.member(10, "C", "m", "()V").to_be_bytes();
    assert_eq!(decode_in(builder, &[0xb4, method[0], method[1]]), ["not a field constant at byte 1"]);
}

#[test]
fn strings_that_must_be_re_encoded_are_limited_per_method() {
    let mut builder = ClassBuilder::new();
    let text = builder.raw_text(&[0xff; 60_000]);
    let string = builder.string(text) as u8;
    let decoded = decode_in(builder, &[0x12, string].repeat(30_000));
    assert!(decoded.len() > 50, "real code loads long strings too");
    assert!(decoded.len() < 1_000);
    assert!(decoded.last().unwrap().starts_with("too much repeated text"));
}
