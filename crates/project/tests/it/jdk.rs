use crate::support::{class, message, opened, place};
use classfile::{ClassSource, Layer};
use project::{Environment, Request, open_in};
use std::path::{Path, PathBuf};

/// Every JDK of this machine.
fn jdks() -> Vec<PathBuf> {
    let mut shelves = Environment::current().shelves;
    shelves.extend(
        Environment::current().java_home.iter().filter_map(|home| Some(home.parent()?.to_path_buf())),
    );
    let children = shelves.iter().filter_map(|shelf| std::fs::read_dir(shelf).ok()).flatten().flatten();
    children.map(|entry| entry.path()).filter(|home| home.join("lib/modules").is_file()).collect()
}

fn with_jdk(jdk: &Path) -> Request {
    Request { jdk: Some(jdk.to_path_buf()), ..Request::default() }
}

#[test]
fn classes_of_every_module_of_every_jdk_are_found() {
    let place = place();
    let path = place.write("A.class", class("A"));
    for jdk in jdks() {
        let project =
            open_in(&Request { paths: vec![path.clone()], ..with_jdk(&jdk) }, &Environment::default());
        let project = project.unwrap_or_else(|error| panic!("{error}"));
        for name in
            ["java/lang/Object", "java/util/Map$Entry", "java/sql/Connection", "jdk/internal/misc/Unsafe"]
        {
            let found = project.find(name).unwrap_or_else(|| panic!("{name} in {}", jdk.display()));
            assert_eq!(found.layer, Layer::Jdk);
            assert!(found.bytes.starts_with(&[0xCA, 0xFE, 0xBA, 0xBE]));
        }
        for name in ["java/lang/Nothing", "no/such/Thing", "Nothing", "", "/", "java/lang/"] {
            assert!(project.find(name).is_none(), "{name}");
        }
        assert!(project.jdk().feature >= 9);
    }
}

#[test]
fn the_environment_is_searched_in_order() {
    let place = place();
    let path = place.write("A.class", class("A"));
    let request = Request { paths: vec![path], ..Request::default() };
    let real = jdks().pop().expect("a JDK");
    let home_of =
        |environment: Environment| open_in(&request, &environment).map(|project| project.jdk().home.clone());

    let by_home = Environment { java_home: Some(real.clone()), ..Environment::default() };
    assert_eq!(home_of(by_home).unwrap(), real);
    let by_path = Environment { path: vec![PathBuf::new(), real.join("bin")], ..Environment::default() };
    assert_eq!(home_of(by_path).unwrap(), real.canonicalize().unwrap());
    let by_shelf =
        Environment { shelves: vec![real.parent().unwrap().to_path_buf()], ..Environment::default() };
    assert!(home_of(by_shelf).is_ok());

    let astray = Environment {
        java_home: Some(place.path("nowhere")),
        path: vec![real.join("bin")],
        ..Environment::default()
    };
    let [note] = &open_in(&request, &astray).unwrap().notes()[..] else { panic!("one note") };
    assert_eq!(note.kind, "bad-java-home");
    assert!(note.message.contains("nowhere (no such directory; "), "{}", note.message);

    let nowhere = Environment { java_home: Some(place.path("nowhere")), ..Environment::default() };
    let text = message(open_in(&request, &nowhere));
    assert!(
        text.contains("no JDK found") && text.contains("JAVA_HOME") && text.contains("nowhere"),
        "{text}"
    );
}

#[test]
fn a_directory_that_is_no_jdk_is_refused_with_the_reason() {
    let place = place();
    let path = place.write("A.class", class("A"));
    let try_with = |jdk: &Path| {
        let request = Request { paths: vec![path.clone()], ..with_jdk(jdk) };
        message(open_in(&request, &Environment::current()))
    };
    assert!(try_with(&place.path("gone")).contains("no such directory"));
    place.write("empty/readme", "");
    assert!(try_with(&place.path("empty")).contains("no lib/modules"));
    place.write("old/jre/lib/rt.jar", "");
    assert!(try_with(&place.path("old")).contains("older than Java 9"));
    place.write("broken/lib/modules", "nonsense, and more of it than a header takes");
    assert!(try_with(&place.path("broken")).contains("no JDK image"));
    let image = std::fs::read(jdks().pop().expect("a JDK").join("lib/modules")).unwrap();
    place.write("cut/lib/modules", &image[..100_000]);
    assert!(try_with(&place.path("cut")).contains("truncated"));
    place.write("cut/lib/modules", &image[..image.len() / 50]);
    assert!(try_with(&place.path("cut")).contains("lib/modules"));
}

#[test]
fn java_lang_comes_from_the_jdk_even_if_a_library_brings_its_own() {
    let place = place();
    let app = place.write("A.class", class("A"));
    let jar = place.jar("lib.jar", &[("java/lang/Object.class", &class("java/lang/Object"))]);
    let project = project::open(&Request { paths: vec![app], classpath: vec![jar], jdk: None }).unwrap();
    assert_eq!(project.find("java/lang/Object").unwrap().layer, Layer::Jdk);
    let own = opened(place.jar("own.jar", &[("java/lang/Object.class", &class("java/lang/Object"))]));
    assert_eq!(own.find("java/lang/Object").unwrap().layer, Layer::App);
}

#[test]
fn a_compressed_image_made_by_jlink_is_read() {
    let Some(jlink) = jdks().into_iter().map(|jdk| jdk.join("bin/jlink")).find(|jlink| jlink.is_file())
    else {
        return;
    };
    let place = place();
    let path = place.write("A.class", class("A"));
    let home = place.path("jdk");
    let arguments = ["--add-modules", "java.base", "--compress", "2", "--output"];
    let made = std::process::Command::new(&jlink).args(arguments).arg(&home).output();
    assert!(made.unwrap().status.success());
    let request = Request { paths: vec![path], ..with_jdk(&home) };
    let project = open_in(&request, &Environment::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(project.find("java/util/HashMap").unwrap().bytes.len() > 1000);
}
