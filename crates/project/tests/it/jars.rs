use crate::support::{app, class, jar, layer, notes, opened, place};
use classfile::{ClassSource, Layer};
use project::Request;
use std::io::Write;
use zip::write::SimpleFileOptions;

#[test]
fn a_jar_is_read() {
    let place = place();
    let path = place.jar(
        "app.jar",
        &[
            ("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\n"),
            ("com/a/A.class", &class("com/a/A")),
            ("com/a/A$1.class", &class("com/a/A$1")),
            ("module-info.class", &class("module-info")),
            ("META-INF/services/java.lang.Runnable", b"com.a.A"),
        ],
    );
    let project = opened(&path);
    assert_eq!(app(&project), ["com/a/A", "com/a/A$1"]);
    assert_eq!(project.resources("META-INF/services/java.lang.Runnable"), [b"com.a.A"]);
    assert_eq!(project.resources("META-INF/nothing"), Vec::<Vec<u8>>::new());
    assert_eq!(notes(&project), []);
}

#[test]
fn a_jar_is_known_by_its_content_and_may_follow_a_launcher_script() {
    let place = place();
    let mut bytes = b"#!/bin/sh\nexec java -jar \"$0\"\n".to_vec();
    bytes.extend(jar(&[("classes/com/A.class", &class("com/A"))]));
    let path = place.write("app.jar", &bytes);
    assert_eq!(app(&opened(path)), ["com/A"]);
    let path = place.write("program", jar(&[("A.class", &class("A"))]));
    assert_eq!(app(&opened(path)), ["A"]);
}

#[test]
fn a_spring_boot_jar_is_the_application_and_its_libraries() {
    let place = place();
    let dep = jar(&[("dep/D.class", &class("dep/D")), ("META-INF/services/x.Y", b"dep.D")]);
    let path = place.jar(
        "boot.jar",
        &[
            (
                "org/springframework/boot/loader/JarLauncher.class",
                &class("org/springframework/boot/loader/JarLauncher"),
            ),
            ("BOOT-INF/classes/com/A.class", &class("com/A")),
            ("BOOT-INF/classes/META-INF/services/x.Y", b"com.A"),
            ("BOOT-INF/lib/dep.jar", &dep),
        ],
    );
    let project = opened(path);
    assert_eq!(app(&project), ["com/A"]);
    assert_eq!(layer(&project, "dep/D"), Some(Layer::Library));
    assert_eq!(layer(&project, "org/springframework/boot/loader/JarLauncher"), Some(Layer::Library));
    assert_eq!(project.resources("META-INF/services/x.Y"), [b"com.A", b"dep.D"]);
}

#[test]
fn web_archives_and_archives_in_archives_are_read() {
    let place = place();
    let innermost = jar(&[("in/I.class", &class("in/I"))]);
    let dep = jar(&[("dep/D.class", &class("dep/D")), ("more/inner.jar", &innermost)]);
    let war = jar(&[("WEB-INF/classes/com/A.class", &class("com/A")), ("WEB-INF/lib/dep.jar", &dep)]);
    let path = place.jar("app.ear", &[("web.war", &war)]);
    let project = opened(path);
    assert_eq!(app(&project), ["com/A"]);
    assert_eq!(layer(&project, "dep/D"), Some(Layer::Library));
    assert_eq!(layer(&project, "in/I"), Some(Layer::Library));
}

#[test]
fn stored_nested_jars_are_read_in_place() {
    let place = place();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("BOOT-INF/lib/dep.jar", stored).unwrap();
    zip.write_all(&jar(&[("dep/D.class", &class("dep/D"))])).unwrap();
    zip.start_file("BOOT-INF/classes/A.class", stored).unwrap();
    zip.write_all(&class("A")).unwrap();
    let project = opened(place.write("boot.jar", zip.finish().unwrap().into_inner()));
    assert_eq!(app(&project), ["A"]);
    assert_eq!(layer(&project, "dep/D"), Some(Layer::Library));
}

#[test]
fn multi_release_jars_give_the_newest_version_the_jdk_knows() {
    let place = place();
    let mut newer = class("com/A");
    newer[7] = 55;
    let mut newest = class("com/A");
    newest[7] = 99;
    let entries: &[(&str, &[u8])] = &[
        ("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\nMulti-Rel\r\n ease: true\r\n\r\n"),
        ("com/A.class", &class("com/A")),
        ("META-INF/versions/9/com/A.class", &class("com/A")),
        ("META-INF/versions/11/com/A.class", &newer),
        ("META-INF/versions/11/com/Only11.class", &class("com/Only11")),
        ("META-INF/versions/9999/com/A.class", &newest),
        ("META-INF/versions/9999/com/Future.class", &class("com/Future")),
    ];
    let project = opened(place.jar("mr.jar", entries));
    assert_eq!(app(&project), ["com/A", "com/Only11"]);
    assert_eq!(project.find("com/A").unwrap().bytes[7], 55);
    assert_eq!(notes(&project), []);

    let plain = opened(place.jar("plain.jar", &entries[1..]));
    assert_eq!(app(&plain), ["com/A"]);
    assert_eq!(plain.find("com/A").unwrap().bytes[7], 52);
}

#[test]
fn jars_named_by_the_manifest_are_libraries() {
    let place = place();
    place.jar("lib/dep.jar", &[("dep/D.class", &class("dep/D"))]);
    let manifest = b"Class-Path: lib/dep.jar lib/gone.jar app.jar\n";
    let path = place.jar("app.jar", &[("META-INF/MANIFEST.MF", manifest), ("A.class", &class("A"))]);
    let project = opened(path);
    assert_eq!(layer(&project, "dep/D"), Some(Layer::Library));
    assert_eq!(app(&project), ["A"]);
    let [gone] = &project.notes()[..] else { panic!("{:?}", project.notes()) };
    assert_eq!(gone.kind, "missing-classpath");
    assert!(
        gone.message.contains("lib/gone.jar (in the Class-Path of ") && gone.message.ends_with("app.jar)")
    );

    // What a library names and lacks is nobody's concern; directories count too.
    let request = Request { classpath: vec![place.path("app.jar")], ..Request::default() };
    place.classes(&[("own/Main.class", "Main"), ("more/m/M.class", "m/M")]);
    let project = project::open(&Request { paths: vec![place.path("own")], ..request }).unwrap();
    assert_eq!(notes(&project), []);
    let manifest = b"Class-Path: more/ file:lib/dep.jar\n";
    let path = place.jar("thin.jar", &[("META-INF/MANIFEST.MF", manifest), ("B.class", &class("B"))]);
    let project = opened(path);
    assert_eq!(layer(&project, "m/M"), Some(Layer::Library));
    assert_eq!(layer(&project, "dep/D"), Some(Layer::Library));
    assert_eq!(notes(&project), []);
}

#[test]
fn jars_in_or_beside_a_jar_without_classes_are_the_application() {
    let place = place();
    let inner = jar(&[("com/A.class", &class("com/A")), ("lib/dep.jar", &jar(&[("D.class", &class("D"))]))]);
    let path = place.jar("all.zip", &[("readme.txt", b""), ("dist/app.jar", &inner)]);
    let project = opened(path);
    assert_eq!(app(&project), ["com/A"]);
    assert_eq!(layer(&project, "D"), Some(Layer::Library));

    place.jar("app.jar", &[("com/A.class", &class("com/A"))]);
    let path = place.jar("path.jar", &[("META-INF/MANIFEST.MF", b"Class-Path: app.jar\n")]);
    assert_eq!(app(&opened(path)), ["com/A"]);
}

#[test]
fn a_star_in_the_class_path_means_every_jar() {
    let place = place();
    place.jar("lib/a.jar", &[("a/A.class", &class("a/A"))]);
    place.jar("lib/b.jar", &[("b/B.class", &class("b/B"))]);
    place.classes(&[("Main.class", "Main")]);
    let request =
        Request { paths: vec![place.path("Main.class")], classpath: vec![place.path("lib/*")], jdk: None };
    let project = project::open(&request).unwrap();
    assert_eq!(layer(&project, "a/A"), Some(Layer::Library));
    assert_eq!(layer(&project, "b/B"), Some(Layer::Library));
}

#[test]
fn a_jar_of_ten_thousand_classes_opens_in_milliseconds() {
    let place = place();
    let names: Vec<_> = (0..10_000).map(|i| format!("com/example/p{}/Class{i}", i % 200)).collect();
    let files: Vec<_> = names.iter().map(|name| (format!("{name}.class"), class(name))).collect();
    let entries: Vec<_> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let path = place.jar("large.jar", &entries);
    let start = std::time::Instant::now();
    let project = opened(path);
    let took = start.elapsed();
    assert_eq!(project.app_classes().len(), 10_000);
    // Generous for a loaded machine; unpacking everything would take longer.
    assert!(took.as_millis() < 500, "took {took:?}");
}

#[test]
fn many_threads_read_at_once() {
    let place = place();
    let names: Vec<_> = (0..500).map(|i| format!("com/C{i}")).collect();
    let files: Vec<_> = names.iter().map(|name| (format!("{name}.class"), class(name))).collect();
    let entries: Vec<_> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let project = opened(place.jar("app.jar", &entries));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(app(&project).len(), 500));
        }
    });
}

#[test]
fn a_jar_of_more_than_65535_entries_is_read() {
    let place = place();
    let names: Vec<_> = (0..70_000).map(|i| format!("com/C{i}.txt")).collect();
    let a = class("com/A");
    let mut entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &[][..])).collect();
    entries.push(("com/A.class", &a));
    let project = opened(place.jar("wide.jar", &entries));
    assert_eq!(app(&project), ["com/A"]);
    assert_eq!(notes(&project), []);
}

#[test]
fn dependencies_in_the_jar_of_their_user_are_no_part_of_the_application() {
    let place = place();
    let pom = |artifact: &str| format!("META-INF/maven/{artifact}/pom.properties");
    let (own, guava, sibling) =
        (pom("com.acme/app"), pom("com.google.guava/guava"), pom("com.acme.util/util"));
    let entries = |manifest: &'static [u8]| -> Vec<(String, Vec<u8>)> {
        let classes = ["com/acme/App", "com/google/common/Lists", "com/acme/shaded/org/x/X", "org/other/O"];
        let mut entries = vec![("META-INF/MANIFEST.MF".to_string(), manifest.to_vec())];
        entries.extend([&guava, &own, &sibling].map(|pom| (pom.clone(), Vec::new())));
        entries.extend(classes.map(|name| (format!("{name}.class"), class(name))));
        entries
    };
    let jar = |name: &str, entries: Vec<(String, Vec<u8>)>| {
        let entries: Vec<(&str, &[u8])> =
            entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        opened(place.jar(name, &entries))
    };
    let project = jar("app.jar", entries(b"Main-Class: com.acme.App\n"));
    assert_eq!(app(&project), ["com/acme/App", "org/other/O"]);
    assert_eq!(layer(&project, "com/google/common/Lists"), Some(Layer::Library));
    assert_eq!(layer(&project, "com/acme/shaded/org/x/X"), Some(Layer::Library));
    // Without a class to begin with nobody knows whose jar it is, and only moved packages tell.
    let project = jar("lib.jar", entries(b"Manifest-Version: 1.0\n"));
    assert_eq!(app(&project), ["com/acme/App", "com/google/common/Lists", "org/other/O"]);
}
