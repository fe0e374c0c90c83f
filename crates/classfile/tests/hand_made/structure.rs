//! What the reader makes of classes that compilers seldom or never write: what it keeps, what it leaves out,
//! and when it gives up.

use crate::builder::ClassBuilder;
use classfile::{BootstrapArg, ClassFile, HandleKind, parse};

const RETURN: &[u8] = &[0xb1];

#[test]
fn an_empty_class_is_read() {
    let bytes = ClassBuilder::new().build();
    let class = parse(&bytes).unwrap();
    assert_eq!((&*class.name, class.super_name.as_deref()), ("T", Some("java/lang/Object")));
    assert_eq!((class.major, class.access, class.problems.len()), (61, 0x21, 0));
}

#[test]
fn a_version_from_the_future_is_read() {
    let mut builder = ClassBuilder::new();
    builder.version(classfile::NEWEST_KNOWN_MAJOR + 7, 0xffff);
    assert!(parse(&builder.build()).is_ok());
}

#[test]
fn a_version_from_before_java_is_refused() {
    let mut builder = ClassBuilder::new();
    builder.version(44, 0);
    assert_eq!(parse(&builder.build()).unwrap_err().what, "class file version below 45");
}

#[test]
fn every_truncation_is_refused() {
    let mut builder = ClassBuilder::new();
    builder.long(1);
    let code = builder.code(RETURN, &[], &[]);
    builder.method("m", &[code]);
    let bytes = builder.build();
    for len in 0..bytes.len() {
        let error = parse(&bytes[..len]).unwrap_err();
        assert!(error.offset <= len, "{error}");
    }
}

#[test]
fn bytes_after_the_end_are_a_problem_but_no_failure() {
    let mut bytes = ClassBuilder::new().build();
    bytes.push(0);
    assert_eq!(problems(&parse(&bytes).unwrap()), ["bytes after the end of the class"]);
}

#[test]
fn code_before_45_3_has_narrow_fields() {
    let mut builder = ClassBuilder::new();
    builder.version(45, 2);
    // max_stack, max_locals: one byte; the length: two; no handlers, no attributes.
    let code = builder.attribute("Code", &[3, 2, 0, 1, 0xb1, 0, 0, 0, 0]);
    builder.method("m", &[code]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    let code = class.methods[0].code.as_ref().unwrap();
    assert_eq!((code.max_stack, code.max_locals, code.bytes), (3, 2, RETURN));
}

#[test]
fn several_line_tables_are_merged_in_order() {
    let mut builder = ClassBuilder::new();
    let late = builder.attribute("LineNumberTable", &[0, 1, 0, 2, 0, 30]);
    let early = builder.attribute("LineNumberTable", &[0, 2, 0, 0, 0, 10, 0, 1, 0, 20]);
    let code = builder.code(&[0, 0, 0xb1], &[], &[late, early]);
    builder.method("m", &[code]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    assert_eq!(class.methods[0].code.as_ref().unwrap().lines, [(0, 10), (1, 20), (2, 30)]);
}

#[test]
fn a_bad_debug_table_is_left_out_and_the_code_kept() {
    let mut builder = ClassBuilder::new();
    let cut_short = builder.attribute("LineNumberTable", &[0, 2, 0, 0, 0, 10]);
    let out_of_code = builder.attribute("LineNumberTable", &[0, 1, 0, 9, 0, 10]);
    let good = builder.attribute("LineNumberTable", &[0, 1, 0, 0, 0, 12]);
    let nameless = builder.attribute("LocalVariableTable", &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    let code = builder.code(RETURN, &[], &[cut_short, out_of_code, good, nameless]);
    builder.method("m", &[code]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    let code = class.methods[0].code.as_ref().unwrap();
    assert_eq!((code.lines.as_slice(), code.locals.len()), (&[(0, 12)][..], 0));
    assert_eq!(problems(&class), ["unexpected end", "line number out of the code", "not a text constant"]);
}

#[test]
fn a_method_with_bad_code_stays_without_code() {
    let mut builder = ClassBuilder::new();
    let cut_short = builder.attribute("Code", &[0, 1, 0, 1, 0, 0, 0, 9, 0xb1]);
    let empty = builder.code(&[], &[], &[]);
    let handler_outside = builder.code(RETURN, &[[0, 2, 0, 0]], &[]);
    let good = builder.code(RETURN, &[[0, 1, 0, 0]], &[]);
    builder.method("cut_short", &[cut_short]);
    builder.method("empty", &[empty]);
    builder.method("handler_outside", &[handler_outside]);
    builder.method("good", &[good]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    let with_code = class.methods.iter().map(|method| (&*method.name, method.code.is_some()));
    let expected = [("cut_short", false), ("empty", false), ("handler_outside", false), ("good", true)];
    assert_eq!(with_code.collect::<Vec<_>>(), expected);
    let expected = ["unexpected end", "code of impossible length", "exception handler out of the code"];
    assert_eq!(problems(&class), expected);
}

#[test]
fn a_method_without_a_name_is_left_out_and_the_next_one_read() {
    let mut builder = ClassBuilder::new();
    let (name, descriptor) = (builder.int(1), builder.text("()V"));
    let code = builder.code(RETURN, &[], &[]);
    builder.raw_method(name, descriptor, &[code]);
    builder.method("next", &[]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    assert_eq!(class.methods.iter().map(|method| &*method.name).collect::<Vec<_>>(), ["next"]);
    assert_eq!(problems(&class), ["not a text constant"]);
}

#[test]
fn an_attribute_longer_than_the_class_is_a_failure() {
    let mut builder = ClassBuilder::new();
    let mut attribute = builder.attribute("Unheard", &[1, 2, 3]);
    attribute[2..6].copy_from_slice(&u32::MAX.to_be_bytes());
    builder.class_attribute(attribute);
    assert_eq!(parse(&builder.build()).unwrap_err().what, "unexpected end");
}

#[test]
fn names_in_modified_utf8_are_decoded() {
    let mut builder = ClassBuilder::new();
    let name = builder.raw_text(b"a\xc0\x80\xed\xa0\xbd\xed\xb8\x80\xff");
    let descriptor = builder.text("()V");
    builder.raw_method(name, descriptor, &[]);
    let bytes = builder.build();
    assert_eq!(parse(&bytes).unwrap().methods[0].name, "a\0\u{1f600}\u{fffd}");
}

#[test]
fn annotation_values_are_flattened() {
    let mut builder = ClassBuilder::new();
    let kind = builder.text("LGuardedBy;").to_be_bytes();
    let name = builder.text("value").to_be_bytes();
    let lock = builder.text("lock").to_be_bytes();
    let one = builder.int(1).to_be_bytes();
    let letter = builder.int('x' as i32).to_be_bytes();
    let big = builder.long(-5_000_000_000).to_be_bytes();
    let mut body = vec![0, 1, kind[0], kind[1], 0, 7];
    let scalars = [(b's', lock), (b'I', one), (b'Z', one), (b'C', letter), (b'J', big)];
    body.extend(scalars.iter().flat_map(|(tag, index)| [name[0], name[1], *tag, index[0], index[1]]));
    // An enum constant, and an array of a class and a nested annotation.
    body.extend([name[0], name[1], b'e', kind[0], kind[1], lock[0], lock[1]]);
    body.extend([name[0], name[1], b'[', 0, 2, b'c', kind[0], kind[1], b'@', kind[0], kind[1], 0, 0]);
    let attribute = builder.attribute("RuntimeInvisibleAnnotations", &body);
    builder.field("guarded", &[attribute]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    assert_eq!(class.problems, []);
    let annotation = &class.fields[0].annotations[0];
    assert_eq!(annotation.descriptor, "LGuardedBy;");
    let values: Vec<_> = annotation.values.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["lock", "1", "true", "x", "-5000000000", "lock", "LGuardedBy;"]);
}

#[test]
fn annotations_nested_without_end_are_left_out() {
    let mut builder = ClassBuilder::new();
    let kind = builder.text("LA;").to_be_bytes();
    let mut body = vec![0, 1, kind[0], kind[1], 0, 1, kind[0], kind[1]];
    body.extend([b'[', 0, 1].repeat(100_000));
    let attribute = builder.attribute("RuntimeVisibleAnnotations", &body);
    builder.class_attribute(attribute);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    assert_eq!((class.annotations.len(), problems(&class)), (0, vec!["annotation nested too deeply"]));
}

#[test]
fn long_texts_named_again_and_again_are_not_copied_without_limit() {
    let mut builder = ClassBuilder::new();
    let kind = builder.text("LA;").to_be_bytes();
    let long = builder.text(&"x".repeat(60_000)).to_be_bytes();
    // 20,000 times 60 KB out of 60 KB.
    let mut body = vec![0, 1, kind[0], kind[1], 0, 1, kind[0], kind[1], b'[', 0x4e, 0x20];
    body.extend([b's', long[0], long[1]].repeat(20_000));
    let attribute = builder.attribute("RuntimeVisibleAnnotations", &body);
    builder.class_attribute(attribute);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    assert_eq!((class.annotations.len(), problems(&class)), (0, vec!["too much repeated text"]));
}

#[test]
fn the_outer_class_comes_from_either_attribute() {
    let mut builder = ClassBuilder::new();
    let (this, outer) = (builder.class("T").to_be_bytes(), builder.class("Outer").to_be_bytes());
    let body = [0, 1, this[0], this[1], outer[0], outer[1], 0, 0, 0, 0];
    let attribute = builder.attribute("InnerClasses", &body);
    builder.class_attribute(attribute);
    assert_eq!(parse(&builder.build()).unwrap().outer_class.as_deref(), Some("Outer"));

    let mut builder = ClassBuilder::new();
    let outer = builder.class("Outer").to_be_bytes();
    let attribute = builder.attribute("EnclosingMethod", &[outer[0], outer[1], 0, 0]);
    builder.class_attribute(attribute);
    assert_eq!(parse(&builder.build()).unwrap().outer_class.as_deref(), Some("Outer"));
}

#[test]
fn bootstrap_methods_keep_their_places_even_with_unreadable_arguments() {
    let mut builder = ClassBuilder::new();
    let member = builder.member(11, "Factory", "make", "()V");
    let handle = builder.method_handle(6, member).to_be_bytes();
    // A dynamic constant whose bootstrap method takes that very constant.
    let dynamic = builder.dynamic(17, 0, "self", "LT;").to_be_bytes();
    let body = [0, 1, handle[0], handle[1], 0, 3, dynamic[0], dynamic[1], 0xff, 0xff, handle[0], handle[1]];
    let attribute = builder.attribute("BootstrapMethods", &body);
    builder.class_attribute(attribute);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    let [method] = class.bootstrap_methods.as_slice() else { panic!("{:?}", class.bootstrap_methods) };
    assert_eq!((method.handle.kind, method.handle.interface), (HandleKind::InvokeStatic, true));
    let dynamic = BootstrapArg::Dynamic { name: "self".into(), descriptor: "LT;".into() };
    let handle = BootstrapArg::MethodHandle(method.handle.clone());
    assert_eq!(method.args, [dynamic, BootstrapArg::Unknown, handle]);
}

#[test]
fn a_class_name_may_not_be_any_constant() {
    let mut builder = ClassBuilder::new();
    let body = [0, 1, 0, 1];
    builder.int(7);
    let attribute = builder.attribute("Exceptions", &body);
    builder.method("m", &[attribute]);
    let bytes = builder.build();
    let class = parse(&bytes).unwrap();
    assert_eq!(problems(&class), ["not a class constant"]);
}

fn problems(class: &ClassFile<'_>) -> Vec<&'static str> {
    class.problems.iter().map(|problem| problem.what).collect()
}
