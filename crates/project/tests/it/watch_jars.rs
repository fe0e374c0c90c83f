use crate::support::{class, jar, place};
use crate::watch_support::{bytes, shown, version, watch, watch_request};
use classfile::ClassSource;
use project::Request;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn a_replaced_jar_tells_its_changed_classes_only_and_the_old_one_stays_readable() {
    let place = place();
    let (same, new) = (version("a/Same", 0), version("a/New", 0));
    let path = place.jar("x.jar", &[("a/A.class", &version("a/A", 0)), ("a/Same.class", &same)]);
    let mut watching = watch(&[&path]);
    let before = watching.watched.project().clone();
    let entries =
        [("a/New.class", new.as_slice()), ("a/Same.class", &same), ("a/A.class", &version("a/A", 1))];
    // Rewritten in place, which changes the bytes under every open file.
    place.jar("x.jar", &entries);
    assert_eq!(watching.changes(), ["~a/A", "+a/New"]);
    assert_eq!(bytes(&before, "a/A"), Some(version("a/A", 0)));
    assert_eq!(bytes(&before, "a/Same"), Some(same.clone()));
    fs::rename(place.write("y", jar(&entries[..2])), &path).unwrap();
    assert_eq!(watching.settled(), ["-a/A"]);
}

#[test]
fn a_jar_packed_differently_has_the_same_classes() {
    let place = place();
    let class = version("a/A", 0);
    let path = place.jar("x.jar", &[("a/A.class", &class)]);
    let mut watching = watch(&[&path]);
    let mut stored = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    stored.start_file("a/A.class", options).unwrap();
    std::io::Write::write_all(&mut stored, &class).unwrap();
    place.write("x.jar", stored.finish().unwrap().into_inner());
    assert_eq!(watching.settled(), [""; 0]);
}

#[test]
fn a_jar_cut_at_any_place_and_completed_later_loses_no_class() {
    let place = place();
    let path = place.jar("x.jar", &[("a/A.class", &version("a/A", 0)), ("b/B.class", &version("b/B", 0))]);
    let whole = jar(&[("a/A.class", &version("a/A", 1)), ("b/B.class", &version("b/B", 0))]);
    let mut watching = watch(&[&path]);
    for len in (0..whole.len()).step_by(7) {
        place.write("x.jar", &whole[..len]);
        let refresh = watching.after(10);
        assert_eq!(shown(&refresh), [""; 0], "{len}");
        assert_eq!(refresh.unsettled, std::slice::from_ref(&path), "{len}");
        assert_eq!(bytes(&refresh.project, "b/B"), Some(version("b/B", 0)), "{len}");
    }
    place.write("x.jar", whole);
    assert_eq!(watching.settled(), ["~a/A"]);
}

#[test]
fn a_jar_overwritten_from_the_front_is_taken_when_all_of_it_is_new() {
    let place = place();
    let old = jar(&[("a/A.class", &version("a/A", 0)), ("b/B.class", &version("b/B", 0))]);
    let new = jar(&[("a/A.class", &version("a/A", 1)), ("b/B.class", &version("b/B", 1))]);
    assert_eq!(old.len(), new.len());
    let path = place.write("x.jar", &old);
    let mut watching = watch(&[&path]);
    for at in (0..new.len()).step_by(5) {
        place.write("x.jar", [&new[..at], &old[at..]].concat());
        let changes = watching.changes();
        assert!(changes.is_empty() || changes == ["~a/A", "~b/B"], "{at}: {changes:?}");
    }
    place.write("x.jar", &new);
    watching.settled();
    assert_eq!(bytes(watching.watched.project(), "b/B"), Some(version("b/B", 1)));
}

#[test]
fn a_jar_deleted_and_built_again_loses_no_class() {
    let place = place();
    let path = place.jar("x.jar", &[("a/A.class", &version("a/A", 0)), ("b/B.class", &version("b/B", 0))]);
    let mut watching = watch(&[&path]);
    fs::remove_file(&path).unwrap();
    for _ in 0..10 {
        let refresh = watching.after(1_900);
        assert_eq!(shown(&refresh), [""; 0]);
        assert_eq!(refresh.unsettled, std::slice::from_ref(&path));
    }
    place.jar("x.jar", &[("a/A.class", &version("a/A", 1)), ("b/B.class", &version("b/B", 0))]);
    assert_eq!(watching.settled(), ["~a/A"]);
}

#[test]
fn a_class_moved_from_one_jar_to_another_does_not_go() {
    let place = place();
    let (a, b, moved) = (class("a/A"), class("b/B"), class("m/M"));
    let one = place.jar("one.jar", &[("a/A.class", &a), ("m/M.class", &moved)]);
    let two = place.jar("two.jar", &[("b/B.class", &b)]);
    let mut watching = watch(&[&one, &two]);
    place.jar("one.jar", &[("a/A.class", &a)]);
    assert_eq!(shown(&watching.after(1)), [""; 0]);
    assert_eq!(shown(&watching.after(500)), [""; 0]);
    place.jar("two.jar", &[("b/B.class", &b), ("m/M.class", &moved)]);
    assert_eq!(watching.settled(), [""; 0]);
    // The other way round it is changed on the way.
    place.jar("two.jar", &[("b/B.class", &b)]);
    place.jar("one.jar", &[("a/A.class", &a), ("m/M.class", &version("m/M", 1))]);
    assert_eq!(watching.settled(), ["~m/M"]);
    // And for good.
    place.jar("one.jar", &[("a/A.class", &a)]);
    assert_eq!(shown(&watching.after(1)), [""; 0]);
    assert_eq!(watching.settled(), ["-m/M"]);
}

#[test]
fn a_jar_dropped_into_a_directory_of_libraries_is_found_when_it_is_whole() {
    let place = place();
    place.classes(&[("out/a/A.class", "a/A")]);
    place.jar("lib/l.jar", &[("lib/L.class", &class("lib/L"))]);
    let request = Request {
        paths: vec![place.path("out")],
        classpath: vec![place.path("lib/*")],
        ..Request::default()
    };
    let mut watching = watch_request(request);
    let more = jar(&[("lib/M.class", &class("lib/M"))]);
    place.write("lib/m.jar", &more[..more.len() - 10]);
    let refresh = watching.after(1);
    assert_eq!((shown(&refresh).len(), refresh.unsettled), (0, vec![place.path("lib/m.jar")]));
    place.write("lib/m.jar", more);
    assert_eq!(watching.settled(), ["+lib/M"]);
    fs::remove_file(place.path("lib/m.jar")).unwrap();
    assert_eq!(watching.settled(), ["-lib/M"]);
}

#[test]
fn what_a_manifest_refers_to_and_what_is_nested_is_followed() {
    let place = place();
    let manifest = b"Class-Path: beside.jar\n".as_slice();
    let inner = |of| jar(&[("n/N.class", &version("n/N", of))]);
    let outer = |of| {
        jar(&[
            ("META-INF/MANIFEST.MF", manifest),
            ("a/A.class", &class("a/A")),
            ("lib/inner.jar", &inner(of)),
        ])
    };
    let path = place.write("x.jar", outer(0));
    place.jar("beside.jar", &[("s/S.class", &version("s/S", 0))]);
    let mut watching = watch(&[&path]);
    place.jar("beside.jar", &[("s/S.class", &version("s/S", 1))]);
    assert_eq!(watching.settled(), ["~s/S"]);
    place.write("x.jar", outer(1));
    assert_eq!(watching.settled(), ["~n/N"]);
}

#[test]
fn unchanged_jars_are_not_read_again() {
    let place = place();
    place.classes(&[("out/a/A.class", "a/A")]);
    let classes: Vec<_> = (0..20_000).map(|number| format!("big/C{number}")).collect();
    let entries: Vec<_> = classes.iter().map(|name| (format!("{name}.class"), class(name))).collect();
    let entries: Vec<_> = entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let big = place.jar("big.jar", &entries);
    let request =
        Request { paths: vec![place.path("out")], classpath: vec![big.clone()], ..Request::default() };
    // Old enough that its time of change says all.
    std::thread::sleep(Duration::from_millis(2_100));
    let began = Instant::now();
    let mut watching = watch_request(request);
    let opening = began.elapsed();
    let rounds = (1..10).map(|round| {
        place.write("out/a/A.class", version("a/A", round));
        let began = Instant::now();
        assert_eq!(watching.changes(), ["~a/A"]);
        began.elapsed()
    });
    let fastest = rounds.min().unwrap();
    assert!(fastest < opening / 5, "{fastest:?} after {opening:?}");
    assert!(watching.watched.project().find("big/C19999").is_some());
}
