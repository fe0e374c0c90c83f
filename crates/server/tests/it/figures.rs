//! The papers' figures, typed: after every edit the findings are those that the fixtures expect.

use crate::client::Client;
use std::fs;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Lines without comments, which nobody types.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a fixture");
    let lines = text.lines().filter(|line| !line.starts_with("//-"));
    lines.map(|line| format!("{}\n", line.split("//").next().unwrap_or_default().trim_end())).collect()
}

/// Rules and lines that a fixture expects, in order.
fn expected(file: &Path) -> Vec<(String, u64)> {
    let text = fs::read_to_string(file).expect("a fixture");
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for expectation in line.split("//~ ").skip(1) {
            let Some((rule, rest)) = expectation.trim().split_once(": ") else { continue };
            let Some((_, other)) = rest.split_once(" with line ") else { continue };
            if rule == "race" || rule == "deadlock" {
                found.push((rule.to_owned(), number));
                found.push((rule.to_owned(), other.trim().parse().expect("a line")));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// What is underlined, each place once: one access may race with several others.
fn underlined(client: &Client, file: &Path) -> Vec<(String, u64)> {
    let mut found = client.underlined(file);
    found.sort();
    found.dedup();
    found
}

/// A project with this text, opened.
fn opened(name: &str, text: &str) -> (tempfile::TempDir, PathBuf, Client) {
    let project = tempfile::tempdir().expect("a directory");
    let file = project.path().join(name);
    fs::write(&file, text).expect("written");
    let mut client = Client::open(project.path());
    client.open_file(&file);
    client.settle();
    (project, file, client)
}

#[test]
fn d4_figure_2_comes_and_goes_with_its_edits() {
    let step = |number: u32| fixtures().join(format!("edits/d4_fig2/{number}/Amy.java"));
    let (_project, file, mut client) = opened("Amy.java", &code(&step(1)));
    assert!(client.underlined(&file).is_empty());
    for number in [2, 3, 4, 1, 3, 2] {
        client.put(&file, &code(&step(number)));
        client.settle();
        assert_eq!(underlined(&client, &file), expected(&step(number)), "step {number}");
    }
}

/// Where two texts differ: what is left of both when beginning and end are the same.
fn difference(old: &str, new: &str) -> (usize, usize, usize) {
    let start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let end = old.bytes().rev().zip(new.bytes().rev()).take(most).take_while(|(a, b)| a == b).count();
    (start, old.len() - end, new.len() - end)
}

#[test]
fn echo_figure_2_is_typed_character_by_character() {
    let step = |number: u32| fixtures().join(format!("papers/echo_fig2_{number}.java"));
    let (_project, file, mut client) = opened("Thread2.java", &code(&step(0)));
    for number in 1..=5 {
        let new = code(&step(number));
        while client.text(&file) != new {
            let old = client.text(&file).to_owned();
            let before = underlined(&client, &file);
            // Line by line, so that two changes are not typed as one large one.
            let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
                (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
            let same = old_lines.iter().zip(&new_lines).take_while(|(a, b)| a == b).count();
            let offset: usize = old_lines[..same].iter().map(|line| line.len()).sum();
            if new_lines.len() > old_lines.len() {
                for (at, c) in new_lines[same].char_indices() {
                    client.type_at(&file, offset + at, 0, c.encode_utf8(&mut [0; 4]));
                    client.settle();
                    assert_legal(&client, &file);
                }
            } else if new_lines.len() < old_lines.len() {
                for _ in 0..old_lines[same].len() {
                    client.type_at(&file, offset, 1, "");
                    client.settle();
                    assert_legal(&client, &file);
                }
            } else {
                let (start, old_end, new_end) = difference(old_lines[same], new_lines[same]);
                assert_eq!(start, old_end, "only insertions here");
                for at in start..new_end {
                    client.type_at(&file, offset + at, 0, &new_lines[same][at..=at]);
                    client.settle();
                    assert_legal(&client, &file);
                    // A word that is half typed breaks a method or a class, and what was found stays.
                    if at + 1 < new_end && !new_lines[same][start..=at].ends_with("synchronized") {
                        assert_eq!(underlined(&client, &file), before, "{}", client.text(&file));
                    }
                }
            }
        }
        assert_eq!(underlined(&client, &file), expected(&step(number)), "step {number}");
    }
}

/// Whatever is typed, nothing is underlined where there is nothing.
fn assert_legal(client: &Client, file: &Path) {
    let lines = client.text(file).lines().count() as u64;
    assert!(client.underlined(file).iter().all(|(_, line)| *line <= lines));
}
