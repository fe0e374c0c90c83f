use crate::support::{LIMIT, files, key, notes, payload, place, store};
use cache::{Hash, Key, Store};
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

#[test]
fn what_was_put_comes_back_also_in_another_run() {
    let place = place();
    // Those of more than one piece are read by several threads, the last by two at least.
    for size in [0, 1, 1000, 4 << 20, (4 << 20) + 1, 40_000_000] {
        let first = store(place.path());
        assert!(first.put(&key(size), &payload(size, size as usize)));
        assert_eq!(store(place.path()).get(&key(size)), Some(payload(size, size as usize)));
    }
    assert_eq!(notes(&store(place.path())), []);
}

#[test]
fn nothing_is_created_before_there_is_something_to_keep() {
    let place = place();
    let store = store(place.path());
    assert_eq!(store.get(&key(1)), None);
    assert!(!store.directory().exists());
    assert_eq!(notes(&store), []);
}

#[test]
fn version_control_does_not_see_it() {
    let place = place();
    let store = store(place.path());
    store.put(&key(1), b"x");
    assert_eq!(fs::read_to_string(store.directory().join(".gitignore")).unwrap(), "*\n");
}

#[test]
fn every_part_of_the_key_counts() {
    let place = place();
    let store = store(place.path());
    let one = Key::new("state", Hash::of(b"a"), 1);
    store.put(&one, b"one");
    for other in [
        Key { kind: "stat".to_owned(), ..one.clone() },
        Key { kind: "st/ate".to_owned(), ..one.clone() },
        Key { content: Hash::of(b"b"), ..one.clone() },
        Key { format: 2, ..one.clone() },
        Key { snarl: "0.0.0".to_owned(), ..one.clone() },
    ] {
        assert_eq!(store.get(&other), None, "{other:?}");
        assert!(store.put(&other, b"other"));
        assert_eq!(store.get(&other).as_deref(), Some(&b"other"[..]));
    }
    assert_eq!(store.get(&one).as_deref(), Some(&b"one"[..]));
}

#[test]
fn an_entry_under_the_name_of_another_is_not_believed() {
    let place = place();
    let store = store(place.path());
    store.put(&key(1), b"one");
    let first = files(&store, "entry").remove(0);
    store.put(&key(2), b"two");
    let second = files(&store, "entry").into_iter().find(|file| *file != first).unwrap();
    fs::copy(&first, &second).unwrap();
    assert_eq!(store.get(&key(2)), None);
    assert_eq!(store.get(&key(1)).as_deref(), Some(&b"one"[..]));
}

#[test]
fn parts_are_told_apart_where_they_are_cut() {
    assert_ne!(Hash::of_parts([&b"ab"[..], b"c"]), Hash::of_parts([&b"a"[..], b"bc"]));
    assert_eq!(Hash::of_parts([&b"ab"[..]]), Hash::of_parts([&b"ab"[..]]));
}

#[test]
fn entries_unused_for_longest_are_forgotten_first() {
    let place = place();
    let size = 1 << 20;
    let store = Store::open(place.path(), 4 * size + 4096);
    let long_ago = SystemTime::now() - Duration::from_secs(1_000_000);
    for number in 0..4 {
        let before = files(&store, "entry");
        assert!(store.put(&key(number), &payload(number, size as usize)));
        let file = files(&store, "entry").into_iter().find(|file| !before.contains(file)).unwrap();
        let written = File::options().write(true).open(file).unwrap();
        written.set_modified(long_ago + Duration::from_secs(number)).unwrap();
    }
    // The oldest is used again, so the next one is the oldest.
    assert!(store.get(&key(0)).is_some());
    assert!(store.put(&key(4), &payload(4, size as usize)));
    let kept: Vec<_> = (0..5).filter(|&number| store.get(&key(number)).is_some()).collect();
    assert_eq!(kept, [0, 2, 3, 4]);
}

#[test]
fn the_total_size_stays_bounded() {
    let place = place();
    let store = Store::open(place.path(), 100_000);
    for number in 0..50 {
        store.put(&key(number), &payload(number, 9_000));
        let total: u64 = files(&store, "entry").iter().map(|file| file.metadata().unwrap().len()).sum();
        assert!(total <= 100_000, "{total}");
    }
    assert!(store.get(&key(49)).is_some());
    assert!(!store.put(&key(50), &payload(50, 100_000)));
    assert_eq!(notes(&store), [("cache-too-small".to_owned(), 1)]);
    assert!(store.get(&key(49)).is_some());
}

#[test]
fn files_of_others_are_left_alone() {
    let place = place();
    let store = Store::open(place.path(), 10_000);
    store.put(&key(1), &payload(1, 5_000));
    fs::write(store.directory().join("mine.txt"), vec![0; 50_000]).unwrap();
    store.put(&key(2), &payload(2, 5_000));
    assert!(store.directory().join("mine.txt").exists());
    assert!(store.get(&key(2)).is_some());
}

#[test]
fn two_writers_at_once_leave_whole_entries() {
    let place = place();
    let write = |from: u64| {
        let store = Store::open(place.path(), LIMIT);
        for round in 0..40 {
            // Both write the same keys, one of them backwards.
            let number = if from == 0 { round % 7 } else { 6 - round % 7 };
            assert!(store.put(&key(number), &payload(number, 20_000 + number as usize)));
            let other = (number + 3) % 7;
            if let Some(found) = store.get(&key(other)) {
                assert_eq!(found, payload(other, 20_000 + other as usize));
            }
        }
        assert_eq!(notes(&store), []);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| write(0));
        scope.spawn(|| write(1));
    });
    let store = store(place.path());
    for number in 0..7 {
        assert_eq!(store.get(&key(number)), Some(payload(number, 20_000 + number as usize)));
    }
    assert_eq!(files(&store, "tmp"), Vec::<std::path::PathBuf>::new());
}
