//! What a finding says of its sides.

use crate::support::{javac, place};

const MAIN: &str = "package app;
public class Main {
    static final Object LOCK = new Object();
    static final Object OTHER = new Object();
    static int hits;
    static void hit() {
        synchronized (LOCK) {
            synchronized (OTHER) {
                hits++;
            }
        }
    }
    public static void main(String[] args) {
        new Thread(() -> {
            synchronized (LOCK) {
                hit();
            }
        }).start();
        hits++;
    }
}
";

#[test]
fn a_lock_taken_again_is_listed_once() {
    let place = place();
    place.write_all("out", &javac(&[("app/Main.java", MAIN)]));
    let (run, json) = place.json(&["out"]);
    let sites = json["findings"][0]["sites"].as_array().expect("two sites");
    let locks = sites.iter().flat_map(|site| site["locks"].as_array().expect("locks"));
    let names: Vec<&str> = locks.filter_map(|lock| lock["name"].as_str()).collect();
    assert_eq!(names, ["app.Main.LOCK", "app.Main.OTHER"], "{}", run.stdout);
}
