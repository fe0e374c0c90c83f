use crate::support::{app, class, jar, message, notes, open, opened, place};
use classfile::ClassSource;
use project::Request;
use std::io::Write;
use zip::write::SimpleFileOptions;

#[test]
fn a_path_that_is_not_there_is_said_so() {
    let place = place();
    let text = message(open(place.path("gone")));
    assert!(text.contains("gone") && text.contains("no such file"), "{text}");
}

#[test]
fn an_empty_directory_has_nothing_to_analyse() {
    let place = place();
    let text = message(open(place.path("")));
    assert!(
        text.contains("nothing to analyse") && text.contains("no classes, jars or Java sources"),
        "{text}"
    );
    place.write("readme.txt", "hello");
    assert!(message(open(place.path(""))).contains("nothing to analyse"));
    assert!(message(project::open(&Request::default())).contains("nothing to analyse"));
}

#[test]
fn an_empty_directory_beside_a_full_one_is_a_note() {
    let place = place();
    place.classes(&[("full/A.class", "A")]);
    std::fs::create_dir(place.path("empty")).unwrap();
    let request = Request { paths: vec![place.path("full"), place.path("empty")], ..Request::default() };
    let project = project::open(&request).unwrap();
    assert_eq!(app(&project), ["A"]);
    assert_eq!(notes(&project), [("empty-path".to_string(), 1)]);
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let place = place();
    assert!(message(open(place.write("notes.txt", "hello"))).contains("not a jar"));
    let text = message(open(place.write("fake.jar", "hello")));
    assert!(text.contains("nothing to analyse") && text.contains("not a zip archive"), "{text}");
    let text = message(open(place.write("empty.jar", "")));
    assert!(text.contains("not a zip archive"), "{text}");
    let text = message(open(place.jar("hollow.jar", &[])));
    assert!(text.contains("nothing to analyse"), "{text}");
}

fn three_classes() -> Vec<u8> {
    jar(&[("a/A.class", &class("a/A")), ("a/B.class", &class("a/B")), ("a/C.class", &class("a/C"))])
}

#[test]
fn a_truncated_jar_gives_what_can_be_read() {
    let place = place();
    let whole = three_classes();
    let third = whole.windows(9).position(|window| window == b"a/C.class").unwrap();
    let project = opened(place.write("cut.jar", &whole[..third]));
    assert_eq!(app(&project), ["a/A", "a/B"]);
    let note = &project.notes()[0];
    assert_eq!((note.kind.as_str(), note.count), ("corrupt-archive", 1));
    assert!(note.message.contains("ends too early; 2 entries read"), "{}", note.message);
}

#[test]
fn a_truncated_jar_written_as_a_stream_gives_what_can_be_read() {
    let place = place();
    let mut zip = zip::ZipWriter::new_stream(Vec::new());
    for name in ["a/A", "a/B"] {
        zip.start_file(format!("{name}.class"), SimpleFileOptions::default()).unwrap();
        zip.write_all(&class(name)).unwrap();
    }
    let whole = zip.finish().unwrap().into_inner();
    assert_eq!(app(&opened(place.write("whole.jar", &whole))), ["a/A", "a/B"]);
    let directory = whole.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    assert_eq!(app(&opened(place.write("cut.jar", &whole[..directory]))), ["a/A", "a/B"]);
}

#[test]
fn a_jar_cut_anywhere_or_with_any_byte_changed_never_panics() {
    let place = place();
    let whole = three_classes();
    let path = place.path("x.jar");
    let try_bytes = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        if let Ok(project) = open(&path) {
            for name in project.app_classes() {
                project.find(&name);
            }
            project.notes();
        }
    };
    for len in 0..whole.len() {
        try_bytes(&whole[..len]);
    }
    let mut bytes = whole.clone();
    for at in 0..bytes.len() {
        for value in [0, 0xFF, bytes[at] ^ 0x20] {
            let old = std::mem::replace(&mut bytes[at], value);
            try_bytes(&bytes);
            bytes[at] = old;
        }
    }
}

#[test]
fn a_corrupt_entry_is_left_out_with_a_note() {
    let place = place();
    let mut bytes = three_classes();
    let second = bytes.windows(9).position(|window| window == b"a/B.class").unwrap();
    bytes[second + 20] ^= 0xFF;
    let project = opened(place.write("x.jar", bytes));
    assert!(project.find("a/A").is_some() && project.find("a/C").is_some());
    assert!(project.find("a/B").is_none() && project.find("a/B").is_none());
    assert_eq!(notes(&project), [("corrupt-entry".to_string(), 1)]);
}

#[test]
fn an_encrypted_entry_is_left_out_with_a_note() {
    let place = place();
    let mut bytes = three_classes();
    // The flag of the second entry of the table of contents.
    let starts: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"PK\x01\x02")).collect();
    bytes[starts[1] + 8] |= 1;
    let project = opened(place.write("x.jar", bytes));
    assert!(project.find("a/B").is_none());
    let note = &project.notes()[0];
    assert!(note.message.contains("x.jar!a/B.class (encrypted)"), "{}", note.message);
}

#[test]
fn a_bomb_is_not_unpacked() {
    let place = place();
    let zeros = vec![0; 70 << 20];
    let path = place.jar("bomb.jar", &[("a/A.class", &class("a/A")), ("a/Bomb.class", &zeros)]);
    let project = opened(&path);
    assert!(project.find("a/Bomb").is_none());
    assert!(project.notes()[0].message.contains("larger than 64 MB"));

    // The same with a directory that lies about the size.
    let mut bytes = std::fs::read(path).unwrap();
    let starts: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"PK\x01\x02")).collect();
    bytes[starts[1] + 24..starts[1] + 28].copy_from_slice(&1000u32.to_le_bytes());
    let project = opened(place.write("liar.jar", bytes));
    assert!(project.find("a/Bomb").is_none());
    assert!(project.find("a/A").is_some());
}

#[test]
fn archives_nested_without_end_are_cut_off() {
    let place = place();
    let mut bytes = jar(&[("deep/D.class", &class("deep/D"))]);
    for _ in 0..20 {
        bytes = jar(&[("inner.jar", &bytes)]);
    }
    let path = place.jar("deep.jar", &[("A.class", &class("A")), ("inner.jar", &bytes)]);
    let project = opened(path);
    assert_eq!(app(&project), ["A"]);
    assert_eq!(notes(&project), [("nested-too-deep".to_string(), 1)]);
}

#[test]
fn a_truncated_class_is_handed_on_and_a_false_one_noted() {
    let place = place();
    place.classes(&[("a/A.class", "a/A")]);
    place.write("a/Cut.class", &class("a/Cut")[..20]);
    place.write("a/Empty.class", "");
    place.write("a/Other.class", class("b/Liar"));
    let project = opened(place.path(""));
    assert!(project.find("a/A").is_some());
    assert_eq!(project.find("a/Cut").unwrap().bytes.len(), 20);
    assert!(project.find("a/Other").is_none());
    assert_eq!(notes(&project), [("misplaced-class".to_string(), 1)]);
}

#[test]
fn a_class_present_twice_is_used_once_with_a_note() {
    let place = place();
    place.classes(&[("one/com/A.class", "com/A"), ("two/com/A.class", "com/A")]);
    let request = Request { paths: vec![place.path("one"), place.path("two")], ..Request::default() };
    let project = project::open(&request).unwrap();
    assert_eq!(app(&project), ["com/A"]);
    assert_eq!(notes(&project), [("duplicate-class".to_string(), 1)]);

    let twice = Request { paths: vec![place.path("one"), place.path("one/com")], ..Request::default() };
    assert_eq!(notes(&project::open(&twice).unwrap()), []);
}

#[cfg(unix)]
#[test]
fn links_in_circles_end() {
    let place = place();
    place.classes(&[("a/A.class", "a/A")]);
    std::os::unix::fs::symlink(place.path(""), place.path("a/up")).unwrap();
    std::os::unix::fs::symlink(place.path("a/self.class"), place.path("a/self.class")).unwrap();
    let project = opened(place.path(""));
    assert_eq!(app(&project), ["a/A"]);
    assert_eq!(notes(&project), [("unreadable-file".to_string(), 1)]);
}

#[cfg(unix)]
#[test]
fn pipes_are_not_waited_for() {
    let place = place();
    place.classes(&[("a/A.class", "a/A")]);
    for name in ["a/Pipe.class", "a/pipe.jar", "alone.jar"] {
        let made = std::process::Command::new("mkfifo").arg(place.path(name)).status();
        assert!(made.unwrap().success());
    }
    assert_eq!(app(&opened(place.path("a"))), ["a/A"]);
    assert!(message(open(place.path("alone.jar"))).contains("not a jar"));
}

#[test]
fn odd_names_do_no_harm() {
    let place = place();
    let names = ["a b/C d", "päckage/Klässe", "日本/語", "a/🦀"];
    let files: Vec<_> = names.iter().map(|name| (format!("{name}.class"), class(name))).collect();
    let mut entries: Vec<_> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let evil = class("evil/E");
    entries.extend([
        ("../../evil/E.class", evil.as_slice()),
        ("/abs/../x.txt", b"x"),
        ("..", b""),
        ("", b""),
    ]);
    let mut expected: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    expected.push("evil/E".to_string());
    expected.sort();
    assert_eq!(app(&opened(place.jar("odd name ü.jar", &entries))), expected);
}
