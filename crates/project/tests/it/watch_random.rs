//! Random edits of directories and jars, looked at at random moments: what is told adds up to what is there, and
//! in the end that is what a project opened anew has.

use crate::support::{Place, jar, place};
use crate::watch_support::{Watching, bytes, version, watch};
use project::{Change, Refresh};
use std::collections::BTreeMap;
use std::fs;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % bound
    }
}

const NAMES: [&str; 8] = ["p/A", "p/B", "p/C", "q/A", "q/B", "q/C", "q/D", "q/E"];

/// One change to the files, of any kind.
fn edit(place: &Place, random: &mut Random) {
    let name = NAMES[random.below(8) as usize];
    let bytes = version(name, random.below(3) as u8);
    let file = format!("{}/{name}.class", ["one", "two"][random.below(2) as usize]);
    let archive = ["x.jar", "y.jar"][random.below(2) as usize];
    match random.below(12) {
        0..4 => drop(place.write(&file, &bytes)),
        4 => drop(fs::remove_file(place.path(&file))),
        5 => drop(place.write(&file, &bytes[..random.below(bytes.len() as u64) as usize])),
        6 => {
            let new = place.write("new", &bytes);
            fs::rename(new, place.write(&file, "")).unwrap();
        }
        7 => {
            let directory = place.path(&file).parent().unwrap().to_path_buf();
            let _ = fs::remove_dir_all(directory);
        }
        8..11 => {
            let whole = archive_of(random);
            let cut =
                if random.below(3) == 0 { random.below(whole.len() as u64) as usize } else { whole.len() };
            place.write(archive, &whole[..cut]);
        }
        _ => drop(fs::remove_file(place.path(archive))),
    }
}

fn archive_of(random: &mut Random) -> Vec<u8> {
    let chosen = NAMES.iter().filter(|_| random.0.rotate_left(7) & 1 == 0 || random.below(2) == 0);
    let mut entries: Vec<_> = chosen.map(|name| (format!("{name}.class"), *name)).collect();
    entries.push(("z/Z.class".to_string(), "z/Z"));
    let bytes: Vec<_> = entries.iter().map(|(_, name)| version(name, random.below(3) as u8)).collect();
    let files: Vec<_> =
        entries.iter().zip(&bytes).map(|((file, _), bytes)| (file.as_str(), bytes.as_slice())).collect();
    jar(&files)
}

/// Everything whole again, so that a project opened anew has nothing to salvage.
fn repair(place: &Place, random: &mut Random) {
    for root in ["one", "two"] {
        for name in NAMES {
            let file = place.path(&format!("{root}/{name}.class"));
            if fs::read(&file).is_ok_and(|bytes| classfile::parse(&bytes).is_err()) {
                fs::write(file, version(name, 0)).unwrap();
            }
        }
        place.write(&format!("{root}/k/{root}.class"), version(&format!("k/{root}"), 0));
    }
    for archive in ["x.jar", "y.jar"] {
        place.write(archive, archive_of(random));
    }
}

/// What a reader who only hears of changes believes.
fn apply(told: &mut BTreeMap<String, Vec<u8>>, refresh: &Refresh) -> usize {
    for change in &refresh.classes {
        let now = bytes(&refresh.project, &change.name);
        let before = told.remove(&change.name);
        let fits = match change.what {
            Change::Appeared => before.is_none() && now.is_some(),
            Change::Changed => before.is_some() && now.is_some() && before != now,
            Change::Went => before.is_some() && now.is_none(),
        };
        assert!(fits, "{change:?}");
        told.extend(now.map(|now| (change.name.clone(), now)));
    }
    refresh.classes.len()
}

fn all(watching: &Watching) -> BTreeMap<String, Vec<u8>> {
    let names = NAMES.iter().copied().chain(["z/Z", "k/one", "k/two"]);
    let project = watching.watched.project();
    names.filter_map(|name| Some((name.to_string(), bytes(project, name)?))).collect()
}

#[test]
fn what_is_told_adds_up_to_what_is_there() {
    let mut changes = 0;
    for seed in 1..=12 {
        let mut random = Random(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let place = place();
        repair(&place, &mut random);
        let paths = ["one", "x.jar", "two", "y.jar"].map(|name| place.path(name));
        let mut watching = watch(&paths.each_ref().map(|path| path.as_path()));
        let mut told = all(&watching);
        for step in 0..120 {
            edit(&place, &mut random);
            if random.below(3) > 0 {
                let wait = [1, 50, 1_000, 25_000][random.below(4) as usize];
                changes += apply(&mut told, &watching.after(wait));
                assert_eq!(told, all(&watching), "seed {seed}, step {step}");
            }
            if step % 40 == 39 {
                repair(&place, &mut random);
                for _ in 0..4 {
                    changes += apply(&mut told, &watching.after(200_000));
                }
                watching.check_like_new();
                assert_eq!(told, all(&watching), "seed {seed}, step {step}");
            }
        }
    }
    assert!(changes > 300, "{changes}");
}
