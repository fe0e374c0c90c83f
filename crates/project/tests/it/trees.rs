use crate::support::{app, class, layer, message, notes, open, opened, place};
use classfile::{ClassSource, Layer};
use project::Request;

#[test]
fn a_class_directory_is_read() {
    let place = place();
    place.classes(&[("com/a/A.class", "com/a/A"), ("com/a/B$1.class", "com/a/B$1"), ("Main.class", "Main")]);
    let project = opened(place.path(""));
    assert_eq!(app(&project), ["Main", "com/a/A", "com/a/B$1"]);
    assert_eq!(notes(&project), []);
}

#[test]
fn a_class_directory_named_too_high_or_too_deep_is_read() {
    let place = place();
    place.classes(&[("out/com/a/A.class", "com/a/A"), ("out/com/a/b/B.class", "com/a/b/B")]);
    for root in ["", "out", "out/com", "out/com/a"] {
        assert_eq!(app(&opened(place.path(root))), ["com/a/A", "com/a/b/B"], "from '{root}'");
    }
}

#[test]
fn a_single_class_file_is_known_by_its_own_name() {
    let place = place();
    place.classes(&[("x.class", "com/a/A"), ("com/a/B.class", "com/a/B")]);
    assert_eq!(app(&opened(place.path("x.class"))), ["com/a/A"]);
    assert_eq!(app(&opened(place.path("com/a/B.class"))), ["com/a/B"]);
}

#[test]
fn several_paths_make_one_program() {
    let place = place();
    place.classes(&[("one/A.class", "A"), ("two/B.class", "B"), ("lib/C.class", "C")]);
    let jar = place.jar("three.jar", &[("D.class", &class("D"))]);
    let request = Request {
        paths: vec![place.path("one"), place.path("two"), jar],
        classpath: vec![place.path("lib"), place.path("gone.jar")],
        jdk: None,
    };
    let project = project::open(&request).unwrap();
    assert_eq!(app(&project), ["A", "B", "D"]);
    assert_eq!(layer(&project, "C"), Some(Layer::Library));
    assert_eq!(notes(&project), [("missing-classpath".to_string(), 1)]);
}

#[test]
fn jars_beside_classes_are_libraries_and_alone_the_program() {
    let place = place();
    place.classes(&[("app/A.class", "A")]);
    place.jar("app/lib/dep.jar", &[("D.class", &class("D"))]);
    let project = opened(place.path("app"));
    assert_eq!(app(&project), ["A"]);
    assert_eq!(layer(&project, "D"), Some(Layer::Library));
    assert_eq!(app(&opened(place.path("app/lib"))), ["D"]);
}

#[test]
fn service_files_of_directories_are_resources() {
    let place = place();
    place.classes(&[("out/A.class", "A")]);
    place.write("out/META-INF/services/java.lang.Runnable", "A");
    assert_eq!(opened(place.path("out")).resources("META-INF/services/java.lang.Runnable"), [b"A"]);
}

#[test]
fn a_source_tree_is_compiled_and_its_sources_are_found() {
    let place = place();
    place.write("src/bank/Account.java", "package bank; class Account { int balance; Other o; }");
    place.write("src/bank/Other.java", "package bank; class Other {}");
    let project = opened(place.path(""));
    assert_eq!(app(&project), ["bank/Account", "bank/Other"]);
    let source = project.source_file("bank/Account.java").unwrap();
    assert!(source.is_file());
    assert_eq!(project.shown(&source), "src/bank/Account.java");
    assert_eq!(project.source_file("bank/Gone.java"), None);
    assert_eq!(project.source_file("Account.java"), Some(source));
}

#[test]
fn sources_are_compiled_against_the_class_path() {
    let place = place();
    place.write("lib/src/dep/Dep.java", "package dep; public class Dep {}");
    place.write("app/A.java", "class A { dep.Dep d; } // é");
    let library = opened(place.path("lib"));
    let dep = library.find("dep/Dep").unwrap();
    let jar = place.jar("dep.jar", &[("dep/Dep.class", &dep.bytes)]);
    let request = Request { paths: vec![place.path("app")], classpath: vec![jar], jdk: None };
    assert_eq!(app(&project::open(&request).unwrap()), ["A"]);
    let text = message(open(place.path("app")));
    assert!(text.contains("package dep does not exist") && text.contains("--classpath"), "{text}");
}

#[test]
fn compile_errors_are_shown_as_the_compiler_prints_them() {
    let place = place();
    let file = place.write("A.java", "class A {\n  int x = y;\n}\n");
    for path in [place.path(""), file] {
        let text = message(open(path));
        assert!(text.contains("A.java:2: error: cannot find symbol"), "{text}");
        assert!(text.contains("int x = y;"), "{text}");
    }
}

#[test]
fn sources_in_latin_1_compile_too() {
    let place = place();
    let mut source = b"class A { String s = \"".to_vec();
    source.extend([0xE9, 0xFC]);
    source.extend(b"\"; }");
    place.write("A.java", source);
    assert_eq!(app(&opened(place.path(""))), ["A"]);
}

#[test]
fn classes_are_used_unless_the_sources_are_newer() {
    let place = place();
    place.write("src/A.java", "class A { class New {} }");
    std::thread::sleep(std::time::Duration::from_millis(20));
    place.classes(&[("out/A.class", "A")]);
    assert_eq!(app(&opened(place.path(""))), ["A"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    place.write("src/A.java", "class A { class Newer {} }");
    assert_eq!(app(&opened(place.path(""))), ["A", "A$Newer"]);
}
