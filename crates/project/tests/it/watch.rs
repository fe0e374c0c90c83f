use crate::support::{class, place};
use crate::watch_support::{Watching, bytes, many, shown, version, watch, watch_request};
use classfile::ClassSource;
use project::Request;
use std::fs;
use std::time::Duration;

#[test]
fn edits_are_told_by_name_and_older_projects_stay_as_they_were() {
    let place = place();
    place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
    let mut watching = watch(&[&place.path("")]);
    let before = watching.watched.project().clone();
    assert_eq!(watching.changes(), [""; 0]);
    place.write("a/A.class", version("a/A", 1));
    assert_eq!(watching.changes(), ["~a/A"]);
    place.write("c/C.class", class("c/C"));
    assert_eq!(watching.changes(), ["+c/C"]);
    fs::remove_file(place.path("b/B.class")).unwrap();
    assert_eq!(watching.settled(), ["-b/B"]);
    assert_eq!(bytes(&before, "a/A"), Some(class("a/A")));
    assert_eq!(bytes(&before, "b/B"), Some(class("b/B")));
    assert_eq!(before.app_classes(), ["a/A", "b/B"]);
}

#[test]
fn the_same_content_written_again_is_no_change() {
    let place = place();
    place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
    place.jar("lib.jar", &[("lib/L.class", &class("lib/L"))]);
    let mut watching = watch(&[&place.path("")]);
    place.write("a/A.class", class("a/A"));
    place.jar("lib.jar", &[("lib/L.class", &class("lib/L"))]);
    let other = place.write("b/other", class("b/B"));
    fs::rename(other, place.path("b/B.class")).unwrap();
    let refresh = watching.after(1);
    assert_eq!(shown(&refresh), [""; 0]);
    assert!(!refresh.resources && refresh.unsettled.is_empty() && refresh.again.is_none());
}

#[test]
fn a_file_changed_twice_within_a_tick_of_the_clock_is_read_again() {
    let place = place();
    let path = place.write("a/A.class", version("a/A", 0));
    let mut watching = watch(&[&place.path("")]);
    for round in 1..20 {
        fs::write(&path, version("a/A", round)).unwrap();
        assert_eq!(watching.changes(), ["~a/A"], "{round}");
    }
}

#[test]
fn a_file_replaced_by_renaming_is_followed() {
    let place = place();
    place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
    let mut watching = watch(&[&place.path("")]);
    let new = place.write("a/A.tmp", version("a/A", 1));
    fs::rename(new, place.path("a/A.class")).unwrap();
    assert_eq!(watching.settled(), ["~a/A"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_when_they_are_turned_elsewhere() {
    use std::os::unix::fs::symlink;
    let place = place();
    place.write("one/a/A.class", version("a/A", 1));
    place.write("two/a/A.class", version("a/A", 2));
    symlink(place.path("one"), place.path("current")).unwrap();
    let mut watching = watch(&[&place.path("current")]);
    symlink(place.path("two"), place.path("next")).unwrap();
    fs::rename(place.path("next"), place.path("current")).unwrap();
    assert_eq!(watching.settled(), ["~a/A"]);
}

#[test]
fn a_half_written_class_is_not_taken_for_a_removed_one() {
    let place = place();
    place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
    let mut watching = watch(&[&place.path("")]);
    let whole = version("a/A", 1);
    for len in 0..whole.len() {
        let path = place.write("a/A.class", &whole[..len]);
        let refresh = watching.after(10);
        assert_eq!(shown(&refresh), [""; 0], "{len}");
        assert_eq!(refresh.unsettled, [path], "{len}");
        assert!(refresh.again.is_some(), "{len}");
        assert_eq!(bytes(&refresh.project, "a/A"), Some(class("a/A")), "{len}");
    }
    place.write("a/A.class", whole);
    assert_eq!(watching.settled(), ["~a/A"]);
}

#[test]
fn a_class_that_stays_incomplete_is_noted_and_not_waited_for_without_end() {
    let place = place();
    place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
    let mut watching = watch(&[&place.path("")]);
    place.write("a/A.class", &class("a/A")[..20]);
    assert!(watching.after(1).again.is_some());
    let refresh = watching.after(200_000);
    assert_eq!((shown(&refresh).len(), refresh.again), (0, None));
    assert_eq!(refresh.project.notes()[0].kind, "unsettled-file");
    // It does not keep others from being followed.
    place.write("b/B.class", version("b/B", 1));
    assert_eq!(watching.changes(), ["~b/B"]);
}

#[test]
fn a_new_class_appears_when_it_is_whole() {
    let place = place();
    place.classes(&[("a/A.class", "a/A")]);
    let mut watching = watch(&[&place.path("")]);
    place.write("b/B.class", &class("b/B")[..30]);
    assert_eq!(watching.changes(), [""; 0]);
    place.write("b/B.class", class("b/B"));
    assert_eq!(watching.settled(), ["+b/B"]);
}

#[test]
fn a_directory_wiped_and_written_again_step_by_step_loses_no_class() {
    let place = place();
    many(&place, "out", 40, 0);
    place.classes(&[("src/x/X.class", "x/X")]);
    let mut watching = watch(&[&place.path("out"), &place.path("src")]);
    for number in 0..40 {
        fs::remove_file(place.path(&format!("out/d/C{number}.class"))).unwrap();
        let refresh = watching.after(300);
        assert_eq!(shown(&refresh), [""; 0]);
        assert!(refresh.again.is_some() && !refresh.unsettled.is_empty());
    }
    fs::remove_dir_all(place.path("out")).unwrap();
    // The compiler thinks for a while.
    for _ in 0..10 {
        assert_eq!(shown(&watching.after(1_500)), [""; 0]);
    }
    let mut changes = Vec::new();
    for number in 0..39 {
        let name = format!("d/C{number}");
        place.write(&format!("out/{name}.class"), version(&name, u8::from(number % 10 == 0)));
        let refresh = watching.after(300);
        assert!(shown(&refresh).iter().all(|change| change.starts_with('~')), "{:?}", shown(&refresh));
        changes.extend(shown(&refresh));
    }
    // All but one came back.
    changes.extend(watching.settled());
    assert_eq!(changes, ["~d/C0", "~d/C10", "~d/C20", "~d/C30", "-d/C39"]);
}

#[test]
fn a_directory_that_stays_away_is_lost_and_may_come_back() {
    let place = place();
    many(&place, "out", 3, 0);
    place.classes(&[("src/x/X.class", "x/X")]);
    let mut watching = watch(&[&place.path("out"), &place.path("src")]);
    fs::remove_dir_all(place.path("out")).unwrap();
    let refresh = watching.after(1);
    assert_eq!((shown(&refresh).len(), refresh.again), (0, Some(Duration::from_secs(20))));
    assert_eq!(shown(&watching.after(19_000)), [""; 0]);
    let refresh = watching.after(1_000);
    assert_eq!(shown(&refresh), ["-d/C0", "-d/C1", "-d/C2"]);
    assert_eq!(refresh.project.notes()[0].kind, "vanished-path");
    many(&place, "out", 3, 0);
    assert_eq!(watching.settled(), ["+d/C0", "+d/C1", "+d/C2"]);
}

#[test]
fn the_whole_program_may_vanish_and_come_back() {
    let place = place();
    many(&place, "out", 3, 0);
    let mut watching = watch(&[&place.path("out")]);
    fs::remove_dir_all(place.path("out")).unwrap();
    assert_eq!(shown(&watching.after(1)), [""; 0]);
    assert_eq!(shown(&watching.after(30_000)).len(), 3);
    assert_eq!(watching.watched.project().app_classes(), [""; 0]);
    many(&place, "out", 3, 1);
    assert_eq!(watching.settled().len(), 3);
}

#[test]
fn files_that_never_stand_still_delay_a_loss_only_so_long() {
    let place = place();
    many(&place, "out", 10, 0);
    let mut watching = watch(&[&place.path("out")]);
    fs::remove_file(place.path("out/d/C9.class")).unwrap();
    let went = (1..).find(|&step| {
        place.write("out/d/C0.class", version("d/C0", (step % 20) as u8));
        shown(&watching.after(500)).contains(&"-d/C9".to_string())
    });
    assert_eq!(went, Some(15));
}

#[test]
fn where_two_roots_have_a_class_the_winning_bytes_count() {
    let place = place();
    place.write("one/a/A.class", version("a/A", 1));
    place.write("two/a/A.class", version("a/A", 2));
    place.write("two/b/B.class", version("b/B", 2));
    place.write("one/c/C.class", class("c/C"));
    let mut watching = watch(&[&place.path("one"), &place.path("two")]);
    place.write("two/a/A.class", version("a/A", 3));
    assert_eq!(watching.changes(), [""; 0]);
    place.write("one/a/A.class", version("a/A", 4));
    assert_eq!(watching.changes(), ["~a/A"]);
    place.write("one/b/B.class", version("b/B", 2));
    assert_eq!(watching.changes(), [""; 0], "the same bytes from elsewhere");
    fs::remove_file(place.path("one/a/A.class")).unwrap();
    assert_eq!(watching.settled(), ["~a/A"]);
    assert_eq!(bytes(watching.watched.project(), "a/A"), Some(version("a/A", 3)));
    fs::remove_file(place.path("two/a/A.class")).unwrap();
    assert_eq!(watching.settled(), ["-a/A"]);
}

#[test]
fn services_that_change_are_told() {
    let place = place();
    place.classes(&[("a/A.class", "a/A")]);
    place.write("META-INF/services/a.Service", "a.A");
    let mut watching = watch(&[&place.path("")]);
    assert!(!watching.after(1).resources);
    place.write("META-INF/services/a.Service", "a.B");
    let refresh = watching.after(1);
    assert!(refresh.resources && refresh.classes.is_empty());
    place.write("META-INF/services/a.Other", "a.B");
    assert!(watching.after(1).resources);
    assert!(!watching.after(1).resources);
    watching.check_like_new();
}

#[test]
fn a_class_that_hides_one_of_the_jdk_changes_it() {
    let place = place();
    place.classes(&[("a/A.class", "a/A")]);
    let mut watching = watch(&[&place.path("")]);
    place.write("javax/swing/JFrame.class", class("javax/swing/JFrame"));
    assert_eq!(watching.changes(), ["~javax/swing/JFrame"]);
    fs::remove_file(place.path("javax/swing/JFrame.class")).unwrap();
    assert_eq!(watching.settled(), ["~javax/swing/JFrame"]);
}

#[test]
fn reports_of_the_system_wake_whoever_waits() {
    let place = place();
    place.classes(&[("out/a/A.class", "a/A"), ("out/b/B.class", "b/B")]);
    let jar = place.jar("lib/l.jar", &[("lib/L.class", &class("lib/L"))]);
    let request =
        Request { paths: vec![place.path("out")], classpath: vec![jar.clone()], ..Request::default() };
    let mut watching = watch_request(request);
    let long = Duration::from_secs(20);
    place.write("out/a/A.class", version("a/A", 1));
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), ["~a/A"]);
    place.jar("lib/l.jar", &[("lib/L.class", &version("lib/L", 1))]);
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), ["~lib/L"]);
    // The directory made anew is followed as well, while it is waited for
    fs::remove_dir_all(place.path("out")).unwrap();
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), [""; 0]);
    place.write("out/a/A.class", version("a/A", 1));
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), [""; 0]);
    place.classes(&[("out/b/B.class", "b/B")]);
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), [""; 0]);
    place.write("out/b/B.class", version("b/B", 1));
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), ["~b/B"]);
    // and after it was given up.
    fs::remove_dir_all(place.path("out")).unwrap();
    assert!(watching.watched.wait(long));
    watching.after(1);
    assert_eq!(shown(&watching.after(30_000)), ["-a/A", "-b/B"]);
    place.classes(&[("out/a/A.class", "a/A")]);
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), ["+a/A"]);
    place.write("out/a/A.class", version("a/A", 2));
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), ["~a/A"]);
    // Nobody is woken again and again by what does not concern him, nor by being read.
    let woken = (0..100).take_while(|_| {
        place.write("out/.snarl/x.entry", "x");
        place.write("lib/other.txt", "x");
        watching.after(1);
        watching.watched.wait(Duration::from_millis(100))
    });
    assert!(woken.count() < 100);
}

#[test]
fn directories_made_again_at_once_or_with_what_is_around_them_are_still_followed() {
    let place = place();
    let files = [("target/classes/a/A.class", "a/A"), ("target/classes/b/B.class", "b/B")];
    place.classes(&files);
    let mut watching = watch(&[&place.path("target/classes")]);
    let long = Duration::from_secs(20);
    let is_told = |watching: &mut Watching, n: u8| {
        while watching.watched.wait(Duration::from_millis(200)) {
            watching.after(1);
        }
        place.write("target/classes/b/B.class", version("b/B", n));
        watching.watched.wait(long) && watching.changes() == ["~b/B"]
    };
    for n in 1..4 {
        // There again before anybody looks, on some file systems under the same number.
        fs::remove_dir_all(place.path("target/classes")).unwrap();
        place.classes(&files);
        assert!(watching.watched.wait(long));
        watching.after(1);
        assert!(is_told(&mut watching, n), "made again at once, {n}");
    }
    // As a build that cleans does it.
    fs::remove_dir_all(place.path("target")).unwrap();
    assert!(watching.watched.wait(long));
    watching.after(1);
    while watching.watched.wait(Duration::from_millis(200)) {
        watching.after(1);
    }
    place.classes(&files);
    assert!(watching.watched.wait(long), "nobody is told that it is back");
    watching.after(1);
    assert!(is_told(&mut watching, 9), "made again with what is around it");
}

#[test]
fn where_the_system_reports_nothing_files_are_looked_at() {
    let place = place();
    place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
    let mut watching = watch(&[&place.path("")]);
    watching.watched.poll();
    watching.after(1);
    assert!(!watching.watched.wait(Duration::from_millis(10)));
    place.write("a/A.class", version("a/A", 1));
    assert!(watching.watched.wait(Duration::from_secs(20)));
    assert_eq!(watching.changes(), ["~a/A"]);
    assert!(!watching.watched.wait(Duration::from_millis(10)));
    place.write("c/C.class", class("c/C"));
    assert!(watching.watched.wait(Duration::from_secs(20)));
    assert_eq!(watching.settled(), ["+c/C"]);
    fs::remove_file(place.path("c/C.class")).unwrap();
    assert!(watching.watched.wait(Duration::from_secs(20)));
    assert_eq!(watching.settled(), ["-c/C"]);
}

#[test]
fn a_project_may_be_followed_from_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<project::Watched>();
    is_send::<project::Refresh>();
}

#[test]
fn what_a_build_adds_is_found_where_its_layout_says() {
    let place = place();
    place.write("pom.xml", "<project><modules><module>one</module></modules></project>");
    place.write("one/pom.xml", "<project/>");
    place.classes(&[("one/target/classes/a/A.class", "a/A")]);
    let mut watching = watch(&[&place.path("")]);
    place.jar("one/lib/l.jar", &[("lib/L.class", &class("lib/L"))]);
    assert_eq!(watching.settled(), ["+lib/L"]);
    place.write("two/pom.xml", "<project/>");
    place.classes(&[("two/target/classes/b/B.class", "b/B")]);
    assert_eq!(watching.settled(), [""; 0]);
    let modules = "<module>one</module><module>two</module>";
    place.write("pom.xml", format!("<project><modules>{modules}</modules></project>"));
    assert_eq!(watching.settled(), ["+b/B"]);
    place.write("two/target/classes/b/B.class", version("b/B", 1));
    assert_eq!(watching.settled(), ["~b/B"]);
    // A build file is written in steps as well.
    watching.after(5_000);
    place.write("pom.xml", "<project><modules><module>one</module><mod");
    assert_eq!(shown(&watching.after(100)), [""; 0]);
    place.write("pom.xml", format!("<project><modules>{modules}</modules></project>"));
    assert_eq!(watching.settled(), [""; 0]);
}

#[test]
fn a_path_named_inside_another_one_is_followed_as_deeply() {
    let place = place();
    place.classes(&[("app/a/A.class", "a/A")]);
    let jar = place.jar("app/lib/l.jar", &[("lib/L.class", &class("lib/L"))]);
    let mut watching = watch(&[&place.path("app"), &jar]);
    let long = Duration::from_secs(20);
    place.write("app/lib/b/B.class", class("b/B"));
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), ["+b/B"]);
    place.write("app/lib/b/B.class", version("b/B", 1));
    assert!(watching.watched.wait(long));
    assert_eq!(watching.changes(), ["~b/B"]);
}
