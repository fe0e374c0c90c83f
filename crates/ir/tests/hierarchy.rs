//! Loading, subtyping, resolution and dispatch on `java/Hierarchy.java` over the JDK, and on class paths with holes.

mod support;

use ir::{FieldRef, Loaded, MethodId, MethodRef, Problem, Program};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

fn program() -> Program {
    static JDK: OnceLock<Arc<support::Jdk>> = OnceLock::new();
    let jdk = JDK.get_or_init(|| Arc::new(support::Jdk::open())).clone();
    Program::new(Arc::new(support::Memory { classes: support::java().clone(), below: Some(jdk) }))
}

fn subtype(program: &mut Program, sub: &str, sup: &str) -> bool {
    let (sub, sup) = (program.class_id(sub), program.class_id(sup));
    let answer = program.is_subtype(sub, sup);
    assert_eq!(program.is_subtype_loaded(sub, sup), answer);
    answer
}

fn reference(program: &mut Program, class: &str, name: &str, descriptor: &str) -> MethodRef {
    MethodRef { class: program.class_id(class), selector: program.selector(name, descriptor) }
}

fn shown(program: &Program, method: Option<MethodId>) -> String {
    method.map_or("none".to_owned(), |method| program.method_display(method))
}

fn resolved(class: &str, name: &str, descriptor: &str) -> String {
    let mut program = program();
    let method = reference(&mut program, class, name, descriptor);
    let found = program.resolve_method(method);
    assert_eq!(program.resolve_method(method), found, "the cached answer");
    shown(&program, found)
}

fn dispatched(class: &str, name: &str, descriptor: &str) -> String {
    let mut program = program();
    let MethodRef { class, selector } = reference(&mut program, class, name, descriptor);
    let found = program.dispatch(class, selector);
    assert_eq!(program.dispatch(class, selector), found, "the cached answer");
    shown(&program, found)
}

fn called(receiver: &str, class: &str, name: &str, descriptor: &str) -> String {
    let mut program = program();
    let target = reference(&mut program, class, name, descriptor);
    let receiver = program.class_id(receiver);
    let found = program.dispatch_call(receiver, target);
    shown(&program, found)
}

#[test]
fn subtypes_follow_classes_and_interfaces() {
    let program = &mut program();
    assert!(subtype(program, "shop/Shout", "shop/Priced"));
    assert!(subtype(program, "shop/Shout", "shop/Item"));
    assert!(subtype(program, "shop/Priced", "java/lang/Object"));
    assert!(!subtype(program, "shop/Book", "shop/Loud"));
    assert!(!subtype(program, "shop/Item", "shop/Book"));
    assert!(!subtype(program, "java/lang/Object", "shop/Priced"));
}

#[test]
fn arrays_are_covariant() {
    let program = &mut program();
    assert!(subtype(program, "[Lshop/Book;", "[Lshop/Priced;"));
    assert!(subtype(program, "[[Lshop/Book;", "[Ljava/lang/Object;"));
    assert!(subtype(program, "[[I", "[Ljava/lang/Cloneable;"));
    assert!(subtype(program, "[I", "java/io/Serializable"));
    assert!(!subtype(program, "[I", "[J"));
    assert!(!subtype(program, "[I", "[Ljava/lang/Object;"));
    assert!(!subtype(program, "[Lshop/Priced;", "[Lshop/Book;"));
    assert!(!subtype(program, "shop/Book", "[Lshop/Book;"));
    assert!(program.problems.is_empty());
}

#[test]
fn methods_resolve_to_superclasses_then_interfaces() {
    assert_eq!(resolved("shop/Shout", "price", "()I"), "shop.Book.price()");
    assert_eq!(resolved("shop/Item", "price", "()I"), "shop.Priced.price()");
    assert_eq!(resolved("shop/Book", "label", "()Ljava/lang/String;"), "shop.Discounted.label()");
    assert_eq!(resolved("shop/Priced", "hashCode", "()I"), "java.lang.Object.hashCode()");
    assert_eq!(resolved("[I", "clone", "()Ljava/lang/Object;"), "java.lang.Object.clone()");
    assert_eq!(resolved("shop/Book", "none", "()I"), "none");
    assert_eq!(resolved("shop/Priced", "none", "()I"), "shop.Priced.none()");
}

#[test]
fn signature_polymorphic_methods_resolve_by_name() {
    let descriptor = "(ILjava/lang/String;)Ljava/lang/Object;";
    assert_eq!(
        resolved("java/lang/invoke/MethodHandle", "invokeExact", descriptor),
        "java.lang.invoke.MethodHandle.invokeExact(java.lang.Object[])"
    );
    assert_eq!(
        resolved("java/lang/invoke/VarHandle", "compareAndSet", "(Lshop/Book;II)Z"),
        "java.lang.invoke.VarHandle.compareAndSet(java.lang.Object[])"
    );
    assert_eq!(resolved("java/lang/invoke/VarHandle", "fence", "(I)V"), "none");
}

#[test]
fn dispatch_finds_what_runs() {
    assert_eq!(dispatched("shop/Book", "label", "()Ljava/lang/String;"), "shop.Discounted.label()");
    assert_eq!(dispatched("shop/Shout", "label", "()Ljava/lang/String;"), "shop.Shout.label()");
    assert_eq!(dispatched("shop/Shout", "price", "()I"), "shop.Book.price()");
    assert_eq!(dispatched("shop/Item", "price", "()I"), "none");
    assert_eq!(dispatched("shop/Shout", "toString", "()Ljava/lang/String;"), "java.lang.Object.toString()");
}

#[test]
fn private_and_package_private_methods_are_overridden_only_where_visible() {
    let text = "()Ljava/lang/String;";
    assert_eq!(called("shop/Book", "shop/Item", "secret", text), "shop.Item.secret()");
    assert_eq!(called("shop/Book", "shop/Item", "local", text), "shop.Book.local()");
    assert_eq!(called("far/Foreign", "shop/Open", "local", text), "shop.Open.local()");
    assert_eq!(called("far/Foreign", "far/Foreign", "local", text), "far.Foreign.local()");
}

#[test]
fn fields_resolve_through_interfaces_and_superclasses() {
    let program = &mut program();
    let mut resolve = |class: &str, name: &str| {
        let class = program.class_id(class);
        let (name, descriptor) = (program.names.intern(name), program.names.intern("I"));
        let found = program.resolve_field(FieldRef { class, name, descriptor });
        found.map(|field| program.field_display(field))
    };
    assert_eq!(resolve("shop/Shout", "amount").as_deref(), Some("shop.Item.amount"));
    assert_eq!(resolve("shop/Shout", "TAX").as_deref(), Some("shop.Priced.TAX"));
    assert_eq!(resolve("shop/Shout", "nothing"), None);
}

#[test]
fn functional_interfaces_have_one_abstract_method() {
    let program = &mut program();
    let mut functional = |name: &str| {
        let class = program.class_id(name);
        let found = program.functional_method(class);
        shown(program, found)
    };
    assert_eq!(functional("java/lang/Runnable"), "java.lang.Runnable.run()");
    assert_eq!(
        functional("java/util/Comparator"),
        "java.util.Comparator.compare(java.lang.Object, java.lang.Object)"
    );
    assert_eq!(
        functional("java/util/function/UnaryOperator"),
        "java.util.function.Function.apply(java.lang.Object)"
    );
    assert_eq!(functional("shop/Visitor"), "shop.Visitor.visit(java.lang.Object)");
    assert_eq!(functional("shop/BookVisitor"), "shop.BookVisitor.visit(shop.Book)");
    assert_eq!(functional("shop/Two"), "none");
    assert_eq!(functional("java/lang/Cloneable"), "none");
}

#[test]
fn a_missing_class_may_be_anything_that_is_not_final() {
    let classes =
        BTreeMap::from_iter(support::java().clone().into_iter().filter(|(name, _)| name != "shop/Item"));
    let jdk = Arc::new(support::Jdk::open());
    let program = &mut Program::new(Arc::new(support::Memory { classes, below: Some(jdk) }));
    // Book extends the missing Item.
    assert!(subtype(program, "shop/Book", "java/util/List"));
    assert!(subtype(program, "shop/Book", "java/lang/Number"));
    assert!(subtype(program, "shop/Book", "no/such/Class"));
    assert!(!subtype(program, "shop/Book", "java/lang/String"));
    assert!(!subtype(program, "shop/Book", "[I"));
    assert!(!subtype(program, "java/lang/String", "no/such/Class"));
    let item = program.class_id("shop/Item");
    assert_eq!(program.class(item).loaded, Loaded::Missing);
    let gone = program.class_id("no/such/Class");
    program.load(item);
    assert_eq!(program.problems, [Problem::MissingClass(item), Problem::MissingClass(gone)]);
}

#[test]
fn unreadable_and_misnamed_classes_are_missing() {
    let mut classes = support::java().clone();
    classes.insert("shop/Item".to_owned(), vec![0xca, 0xfe]);
    classes.insert("shop/Loud".to_owned(), classes["shop/Two"].clone());
    let program = &mut Program::new(Arc::new(support::Memory { classes, below: None }));
    let shout = program.class_id("shop/Shout");
    program.load(shout);
    let (item, loud) = (program.class_id("shop/Item"), program.class_id("shop/Loud"));
    assert!(
        program
            .problems
            .iter()
            .any(|problem| matches!(problem, Problem::CorruptClass(class, _) if *class == item))
    );
    assert!(program.problems.contains(&Problem::CorruptClass(loud, "holds class shop/Two".to_owned())));
    assert!(program.superclasses(shout).count() == 4);
}

/// A class file with nothing but a name, a superclass and an interface.
fn bare(name: &str, super_name: &str, interface: &str, major: u16) -> Vec<u8> {
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0];
    bytes.extend(major.to_be_bytes());
    bytes.extend(7u16.to_be_bytes());
    for (at, name) in [name, super_name, interface].into_iter().enumerate() {
        bytes.push(1);
        bytes.extend((name.len() as u16).to_be_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend([7, 0, at as u8 * 2 + 1]);
    }
    bytes.extend([0, 0x21, 0, 2, 0, 4, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn cyclic_hierarchies_are_cut() {
    let classes = BTreeMap::from([
        ("A".to_owned(), bare("A", "B", "I", 61)),
        ("B".to_owned(), bare("B", "A", "I", 61)),
        ("I".to_owned(), bare("I", "java/lang/Object", "I", 61)),
        ("java/lang/Object".to_owned(), bare("java/lang/Object", "A", "I", 61)),
    ]);
    let source = Arc::new(support::Memory { classes, below: None });
    // From whichever side one comes.
    for order in [["A", "B"], ["B", "A"]] {
        let program = &mut Program::new(source.clone());
        for name in order {
            let class = program.class_id(name);
            program.load(class);
        }
        assert!(!subtype(program, "A", "B"));
        assert!(!subtype(program, "B", "A"));
        assert!(subtype(program, "B", "I"));
        assert!(subtype(program, "B", "java/lang/Object"));
        let cyclic = ["A", "B", "I"].map(|name| Problem::CyclicHierarchy(program.class_id(name)));
        assert_eq!(program.problems.len(), 3);
        assert!(cyclic.iter().all(|problem| program.problems.contains(problem)));
    }
}

#[test]
fn newer_class_files_are_noted_and_read() {
    let classes = BTreeMap::from([("A".to_owned(), bare("A", "java/lang/Object", "A", 99))]);
    let program = &mut Program::new(Arc::new(support::Memory { classes, below: None }));
    let class = program.class_id("A");
    assert_eq!(program.load(class).loaded, Loaded::Yes);
    assert!(program.problems.contains(&Problem::NewerVersion(class, 99)));
}

#[test]
fn a_deep_hierarchy_does_not_overflow_the_stack() {
    let name = |at: usize| format!("C{at}");
    let mut classes: BTreeMap<String, Vec<u8>> =
        (0..3000).map(|at| (name(at), bare(&name(at), &name(at + 1), "java/lang/Cloneable", 61))).collect();
    classes.insert(name(3000), bare(&name(3000), "java/lang/Object", "java/lang/Cloneable", 61));
    let program = &mut Program::new(Arc::new(support::Memory { classes, below: None }));
    assert!(subtype(program, "C0", "C3000"));
    assert!(!subtype(program, "C3000", "C0"));
}

#[test]
fn names_read_as_in_source() {
    let program = &mut program();
    let class = program.class_id("shop/Book");
    program.load(class);
    assert_eq!(program.class_file(class), "shop/Hierarchy.java");
    let unknown = program.class_id("a/b/Outer$Inner");
    assert_eq!(program.class_file(unknown), "a/b/Outer.java");
    let array = program.class_id("[[J");
    assert_eq!(program.class_display(array), "long[][]");
    let field = program.model_field(class, "$task");
    assert_eq!(program.field_display(field), "shop.Book.$task");
    assert_eq!(program.model_field(class, "$task"), field);
}

#[test]
fn a_program_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Program>();
}
