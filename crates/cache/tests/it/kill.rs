//! Writers that die: killed at any moment, or out of space. The writer is this test binary, run once more.

use crate::support::{files, key, payload, place, random, store};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const DIRECTORY: &str = "SNARL_TEST_CACHE";
const KEYS: u64 = 5;

fn size(number: u64) -> usize {
    [10, 5_000, 100_000, 700_000, 2_000_000][number as usize]
}

/// Not a test: what the other process runs.
#[test]
#[ignore = "run by the tests below"]
fn write_without_end() {
    let Some(place) = env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    for round in 0u64.. {
        let number = round % KEYS;
        store(&place).put(&key(number), &payload(number, size(number)));
    }
}

/// Not a test either: what the process without space runs.
#[test]
#[ignore = "run by the tests below"]
fn write_once_with_little_space() {
    let Some(place) = env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let store = store(&place);
    assert!(store.put(&key(0), &payload(0, size(0))));
    assert!(!store.put(&key(4), &payload(4, size(4))));
    assert_eq!(store.notes()[0].kind, "cache-unusable");
    assert!(store.get(&key(0)).is_some());
}

fn writer(place: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "kill::write_without_end", "--ignored"]).env(DIRECTORY, place);
    command.stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_writer_killed_at_any_moment_leaves_whole_entries_or_none() {
    let place = place();
    let mut state = 0x5EED;
    let (mut whole, mut left) = (0, 0);
    for round in 0..100 {
        // Every third time two processes write at once, and only one of them dies at once.
        let mut writers: Vec<_> =
            (0..if round % 3 == 0 { 2 } else { 1 }).map(|_| writer(place.path())).collect();
        for writer in &mut writers {
            state = random(state);
            std::thread::sleep(Duration::from_micros(1_000 + state % 25_000));
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        left += std::fs::read_dir(place.path().join(".snarl"))
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "tmp"))
            .count();
        let store = store(place.path());
        assert_eq!(files(&store, "tmp"), Vec::<PathBuf>::new(), "round {round}");
        for number in 0..KEYS {
            if let Some(found) = store.get(&key(number)) {
                assert!(found == payload(number, size(number)), "round {round}, entry {number}");
                whole += 1;
            }
        }
        assert_eq!(store.notes(), [], "round {round}");
        // Start over now and then, so that absence is met as well.
        if round % 10 == 9 {
            std::fs::remove_dir_all(place.path().join(".snarl")).unwrap();
        }
    }
    assert!(whole > 0, "no writer got as far as one entry");
    assert!(left > 0, "no writer was killed while writing");
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_a_note_and_leaves_nothing_behind() {
    let place = place();
    // A limit on the size of files stands for the disk; the shell counts it in blocks of 512 or 1024 bytes.
    let script =
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact kill::write_once_with_little_space --ignored";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(env::current_exe().unwrap())
        .env(DIRECTORY, place.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let store = store(place.path());
    assert_eq!(files(&store, "tmp"), Vec::<PathBuf>::new());
    assert_eq!(store.get(&key(0)), Some(payload(0, size(0))));
    assert_eq!(store.get(&key(4)), None);
}
