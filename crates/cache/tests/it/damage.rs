use crate::support::{files, key, notes, payload, place, store};
use std::fs;

/// Puts an entry, changes its file, and says whether the change is found and the entry can be made anew.
fn check_damage(damage: impl Fn(&mut Vec<u8>), what: &str) {
    let place = place();
    let store = store(place.path());
    store.put(&key(1), &payload(1, 100));
    let file = files(&store, "entry").remove(0);
    let mut bytes = fs::read(&file).unwrap();
    damage(&mut bytes);
    fs::write(&file, &bytes).unwrap();
    assert_eq!(store.get(&key(1)), None, "{what}");
    assert_eq!(notes(&store), [("cache-damaged".to_owned(), 1)], "{what}");
    assert!(!file.exists(), "{what}");
    store.put(&key(1), &payload(1, 100));
    assert_eq!(store.get(&key(1)), Some(payload(1, 100)), "{what}");
}

fn entry_len() -> usize {
    let place = place();
    let store = store(place.path());
    store.put(&key(1), &payload(1, 100));
    fs::read(files(&store, "entry").remove(0)).unwrap().len()
}

#[test]
fn every_flipped_byte_is_found() {
    for at in 0..entry_len() {
        for flip in [0x01, 0x80, 0xFF] {
            check_damage(|bytes| bytes[at] ^= flip, &format!("byte {at} changed by {flip:#x}"));
        }
    }
}

#[test]
fn every_truncation_is_found() {
    for len in 0..entry_len() {
        check_damage(|bytes| bytes.truncate(len), &format!("cut to {len}"));
    }
}

#[test]
fn bytes_at_the_end_and_zeros_are_found() {
    check_damage(|bytes| bytes.push(0), "one byte more");
    check_damage(|bytes| bytes.extend_from_within(..), "twice");
    check_damage(|bytes| bytes.fill(0), "zeros, as some file systems leave them after a crash");
    let header = entry_len() - 100;
    check_damage(|bytes| bytes[header..].fill(0), "a payload of zeros");
}

#[test]
fn a_file_larger_than_any_entry_is_not_read() {
    let place = place();
    let store = store(place.path());
    store.put(&key(1), b"x");
    let file = fs::File::options().write(true).open(files(&store, "entry").remove(0)).unwrap();
    file.set_len(1 << 40).unwrap();
    assert_eq!(store.get(&key(1)), None);
}

#[test]
fn damage_anywhere_in_a_large_entry_is_found() {
    let (place, size) = (place(), 40_000_000);
    let store = store(place.path());
    for at in [0, size / 3, size / 2 + 1, size - 1] {
        assert!(store.put(&key(1), &payload(1, size)));
        let file = files(&store, "entry").remove(0);
        let mut bytes = fs::read(&file).unwrap();
        let header = bytes.len() - size;
        bytes[header + at] ^= 1;
        fs::write(&file, &bytes).unwrap();
        assert_eq!(store.get(&key(1)), None, "{at}");
    }
}

#[test]
fn two_pieces_that_changed_places_are_found() {
    let (place, size) = (place(), 8 << 20);
    let store = store(place.path());
    assert!(store.put(&key(1), &payload(1, size)));
    let file = files(&store, "entry").remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let header = bytes.len() - size;
    bytes[header..].rotate_left(size / 2);
    fs::write(&file, &bytes).unwrap();
    assert_eq!(store.get(&key(1)), None);
}
