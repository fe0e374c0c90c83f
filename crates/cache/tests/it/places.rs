use crate::support::{files, key, notes, payload, place, store};
use cache::Store;
use std::fs::{self, File};
use std::path::Path;

fn check_unusable(store: &Store) {
    assert_eq!(store.get(&key(1)), None);
    assert!(!store.put(&key(1), b"x"));
    assert_eq!(store.get(&key(1)), None);
    let notes = store.notes();
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].kind, "cache-unusable");
}

#[test]
fn a_file_in_the_place_of_the_directory_is_left_alone() {
    let place = place();
    fs::write(place.path().join(".snarl"), "hello").unwrap();
    check_unusable(&store(place.path()));
    assert_eq!(fs::read_to_string(place.path().join(".snarl")).unwrap(), "hello");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_directory_is_not_followed() {
    let (here, elsewhere) = (place(), place());
    std::os::unix::fs::symlink(elsewhere.path(), here.path().join(".snarl")).unwrap();
    check_unusable(&store(here.path()));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_project_that_is_not_there_gets_no_cache() {
    let place = place();
    check_unusable(&store(&place.path().join("gone")));
}

/// Nobody can create a directory there, not even root.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_nobody_can_write_to_gets_no_cache() {
    check_unusable(&store(Path::new("/proc/self")));
}

#[cfg(unix)]
#[test]
fn what_cannot_be_written_any_more_can_still_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let store = store(place.path());
    store.put(&key(1), b"x");
    let set = |mode| fs::set_permissions(store.directory(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    assert_eq!(store.get(&key(1)).as_deref(), Some(&b"x"[..]));
    // Root may write all the same.
    if File::create_new(store.directory().join("probe")).is_err() {
        assert!(!store.put(&key(2), b"y"));
        assert_eq!(notes(&store), [("cache-unusable".to_owned(), 1)]);
    }
    set(0o755);
}

#[cfg(unix)]
#[test]
fn pipes_and_directories_in_the_place_of_files_do_no_harm() {
    let place = place();
    let first = store(place.path());
    first.put(&key(1), b"x");
    let file = files(&first, "entry").remove(0);
    fs::remove_file(&file).unwrap();
    for name in [file.as_path(), &first.directory().join("1.tmp"), &first.directory().join("2.entry")] {
        assert!(std::process::Command::new("mkfifo").arg(name).status().unwrap().success());
    }
    let second = store(place.path());
    assert_eq!(second.get(&key(1)), None);
    assert!(second.put(&key(1), b"x"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(second.get(&key(1)), None);
    assert!(!second.put(&key(1), b"x"));
}

#[test]
fn temporary_files_of_the_dead_are_removed_and_those_of_the_living_kept() {
    let place = place();
    store(place.path()).put(&key(1), b"x");
    let directory = place.path().join(".snarl");
    fs::write(directory.join("1-dead.tmp"), payload(1, 1000)).unwrap();
    let living = File::create_new(directory.join("1-living.tmp")).unwrap();
    living.lock().unwrap();
    let store = store(place.path());
    assert_eq!(files(&store, "tmp"), [directory.join("1-living.tmp")]);
    assert_eq!(store.get(&key(1)).as_deref(), Some(&b"x"[..]));
    assert_eq!(notes(&store), []);
}
