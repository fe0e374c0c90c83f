//! What is told about findings: places, words, actions, commands, and settings that change them.

use crate::client::{Client, uri};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const COUNTER: &str = "class Counter {
    private int n;
    private final Object lock = new Object();

    void inc() {
        synchronized (lock) {
            n++;
        }
    }

    void dec() {
        n--;
    }

    public static void main(String[] args) {
        Counter counter = new Counter();
        new Thread(() -> counter.inc()).start();
        counter.dec();
    }
}
";

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let project = tempfile::tempdir().expect("a directory");
    let paths = files.iter().map(|(name, text)| {
        let path = project.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(&path, text).expect("written");
        path
    });
    let paths = paths.collect();
    (project, paths)
}

fn opened(text: &str) -> (tempfile::TempDir, PathBuf, Client) {
    let (project, paths) = project(&[("Counter.java", text)]);
    let mut client = Client::open(project.path());
    client.open_file(&paths[0]);
    client.settle();
    (project, paths[0].clone(), client)
}

fn race() -> Vec<(String, u64)> {
    vec![("race".to_owned(), 7), ("race".to_owned(), 12)]
}

#[test]
fn a_finding_is_underlined_at_both_sides_with_what_else_there_is_to_see() {
    let (_project, file, client) = opened(COUNTER);
    assert_eq!(client.underlined(&file), race());
    let (version, found) = &client.published[&uri(&file)];
    assert_eq!(*version, Some(1));
    assert_eq!(found[1]["range"]["start"], json!({"line": 11, "character": 8}));
    assert_eq!(found[1]["range"]["end"], json!({"line": 11, "character": 9}));
    assert_eq!((&found[1]["source"], &found[1]["severity"]), (&json!("snarl"), &json!(1)));
    let related = found[1]["relatedInformation"].as_array().expect("a list");
    let words: Vec<String> = related
        .iter()
        .map(|one| {
            let line = one["location"]["range"]["start"]["line"].as_u64().expect("a line") + 1;
            format!("{line}: {}", one["message"].as_str().expect("words"))
        })
        .collect();
    assert!(words[0].starts_with("7: the other side: "), "{words:?}");
    assert!(words.contains(&"6: `Counter.lock` is taken here".to_owned()), "{words:?}");
    assert!(words.contains(&"17: the thread is started here".to_owned()), "{words:?}");
}

#[test]
fn places_move_with_the_text_before_anybody_has_analysed_it() {
    let (_project, file, mut client) = opened(COUNTER);
    client.heard.clear();
    client.type_at(&file, 0, 0, "// a comment\n");
    client.wait(|client| client.heard.contains(&"textDocument/publishDiagnostics".to_owned()), "moved");
    assert_eq!(client.underlined(&file), [("race".to_owned(), 8), ("race".to_owned(), 13)]);
    assert_eq!(client.published[&uri(&file)].0, Some(2));
    client.settle();
    assert_eq!(client.underlined(&file), [("race".to_owned(), 8), ("race".to_owned(), 13)]);
}

#[test]
fn what_is_broken_keeps_what_was_found_and_the_rest_is_followed() {
    let (_project, file, mut client) = opened(COUNTER);
    let broken = COUNTER.replace("n--;\n", "n--; n.\n");
    client.put(&file, &broken);
    client.settle();
    assert_eq!(client.underlined(&file), race());
    // Another method is repaired while this one is broken.
    let other = broken.replace("synchronized (lock) {", "synchronized (new Object()) {");
    client.put(&file, &other);
    client.settle();
    assert_eq!(client.underlined(&file), race());
    client.put(&file, &COUNTER.replace("n--;", ";"));
    client.settle();
    assert!(client.underlined(&file).is_empty());
}

#[test]
fn only_fixes_that_repair_it_are_offered() {
    let (_project, file, mut client) = opened(COUNTER);
    let actions = client.actions(&file);
    let titles: Vec<&str> = actions.keys().map(String::as_str).collect();
    assert!(titles.contains(&"Guard the access with synchronized (lock)"), "{titles:?}");
    // The other side holds another lock, and an update could be lost.
    assert!(!titles.iter().any(|title| title.starts_with("Make")), "{titles:?}");
    // Trying has left nothing behind.
    assert_eq!(client.findings().len(), 1);
    let fixed = client.after(&file, &actions["Guard the access with synchronized (lock)"]);
    client.put(&file, &fixed);
    client.settle();
    assert!(client.underlined(&file).is_empty(), "{fixed}");
    let delta = client.request("workspace/executeCommand", json!({"command": "snarl.delta"}));
    assert_eq!(delta["text"], "fixed 1 race");
}

/// Two methods forget the lock.
const FORGETFUL: &str = "class Counter {
    private int n;
    private final Object lock = new Object();
    void inc() {
        synchronized (lock) {
            n++;
        }
    }
    void dec() {
        n--;
    }
    void reset() {
        n = 0;
    }
    public static void main(String[] args) {
        Counter counter = new Counter();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> { counter.inc(); counter.dec(); counter.reset(); }).start();
        }
    }
}
";

#[test]
fn every_unguarded_access_is_underlined_and_has_a_fix() {
    let (_project, file, mut client) = opened(FORGETFUL);
    let underlined: Vec<u64> = client.underlined(&file).into_iter().map(|(_, line)| line).collect();
    assert_eq!((client.findings().len(), underlined), (1, vec![6, 10, 13]));
    let found = client.published[&uri(&file)].1.clone();
    for one in &found {
        assert!(!one["relatedInformation"].as_array().expect("a list").is_empty(), "{one}");
    }
    for line in [10, 13] {
        let actions = client.actions_at(&file, line);
        let titles: Vec<&String> = actions.keys().collect();
        let this = actions.get("Guard this access with synchronized (lock)");
        let fixed = client.after(&file, this.unwrap_or_else(|| panic!("{line}: {titles:?}")));
        assert_eq!(fixed.matches("synchronized (lock)").count(), 2, "{fixed}");
        let all = &actions["Guard all 2 accesses with synchronized (lock)"];
        assert_eq!(client.after(&file, all).matches("synchronized (lock)").count(), 3);
    }
    let this = client.actions_at(&file, 10).remove("Guard this access with synchronized (lock)");
    let fixed = client.after(&file, &this.expect("offered"));
    client.put(&file, &fixed);
    client.settle();
    let underlined: Vec<u64> = client.underlined(&file).into_iter().map(|(_, line)| line).collect();
    assert!(underlined.len() == 2 && underlined.contains(&15), "{underlined:?} in {fixed}");
}

#[test]
fn a_lock_object_is_locked_and_its_monitor_is_not() {
    let locked = FORGETFUL
        .replace(
            "private final Object lock = new Object();",
            "private final Lock lock = new ReentrantLock();",
        )
        .replace("synchronized (lock) {", "lock.lock(); try {")
        .replace("            n++;\n        }", "            n++;\n        } finally { lock.unlock(); }");
    let text = format!("import java.util.concurrent.locks.*; {locked}");
    let (_project, file, mut client) = opened(&text);
    let actions = client.actions(&file);
    let titles: Vec<&String> = actions.keys().collect();
    assert!(!titles.iter().any(|title| title.contains("ynchronized")), "{titles:?}");
    let all = actions.get("Guard all 2 accesses with lock.lock()").unwrap_or_else(|| panic!("{titles:?}"));
    let fixed = client.after(&file, all);
    assert_eq!(fixed.matches("lock.lock();").count(), 3, "{fixed}");
    assert_eq!(fixed.matches("lock.unlock();").count(), 3, "{fixed}");
    // Which of the two locks it has is not seen.
    let other = text
        .replace("Lock lock = new ReentrantLock()", "ReadWriteLock lock = new ReentrantReadWriteLock()")
        .replace("lock.lock()", "lock.writeLock().lock()")
        .replace("lock.unlock()", "lock.writeLock().unlock()");
    client.put(&file, &other);
    client.settle();
    let titles: Vec<String> = client.actions(&file).into_keys().collect();
    assert!(!titles.iter().any(|title| title.starts_with("Guard")), "{titles:?}");
}

#[test]
fn a_field_that_is_checked_and_then_set_is_not_made_volatile() {
    let text = "class Lazy {
    static Object made;
    static Object get() {
        if (made == null) {
            made = new Object();
        }
        return made;
    }
    public static void main(String[] args) {
        new Thread(() -> get()).start();
        get();
    }
}
";
    let (_project, file, mut client) = opened(text);
    assert!(!client.underlined(&file).is_empty());
    let titles: Vec<String> = client.actions(&file).into_keys().collect();
    assert!(!titles.iter().any(|title| title.contains("volatile")), "{titles:?}");
    assert!(titles.iter().any(|title| title == "Make get synchronized"), "{titles:?}");
}

#[test]
fn a_flag_is_made_volatile_and_a_counter_is_not() {
    let flag = "class Flag {
    static boolean stop;
    public static void main(String[] args) {
        new Thread(() -> { while (!stop) { } }).start();
        stop = true;
    }
}
";
    let (_project, file, mut client) = opened(flag);
    assert!(!client.underlined(&file).is_empty());
    assert!(client.actions(&file).contains_key("Make stop volatile"));
    client.put(
        &file,
        &flag
            .replace("boolean stop", "int stop")
            .replace("!stop", "stop == 0")
            .replace("stop = true", "stop++"),
    );
    client.settle();
    assert!(!client.underlined(&file).is_empty());
    assert!(!client.actions(&file).contains_key("Make stop volatile"));
}

#[test]
fn locks_are_taken_in_the_other_order() {
    let text = "class Two {
    static final Object a = new Object(), b = new Object();
    static int n;
    public static void main(String[] args) {
        new Thread(() -> {
            synchronized (a) {
                synchronized (b) {
                    n++;
                }
            }
        }).start();
        synchronized (b) {
            synchronized (a) {
                n++;
            }
        }
    }
}
";
    let (_project, file, mut client) = opened(text);
    assert_eq!(client.underlined(&file).len(), 2);
    let actions = client.actions(&file);
    let fixed = client.after(&file, actions.get("Take b before a").expect("offered"));
    client.put(&file, &fixed);
    client.settle();
    assert!(client.underlined(&file).is_empty(), "{fixed}");
}

#[test]
fn a_comment_suppresses_before_it_is_saved() {
    let (_project, file, mut client) = opened(COUNTER);
    let actions = client.actions(&file);
    let suppressed = client.after(&file, &actions["Suppress this race with a comment"]);
    assert!(suppressed.contains("// snarl: ignore race -- "), "{suppressed}");
    client.put(&file, &suppressed);
    client.settle();
    assert!(client.underlined(&file).is_empty());
    client.put(&file, COUNTER);
    client.settle();
    assert_eq!(client.underlined(&file), race());
}

#[test]
fn a_finding_of_several_places_is_suppressed_at_the_field() {
    let text = COUNTER.replace("        n--;", "        n = 0;\n        n--;");
    let text = text.replace("            n++;\n        }\n", "            n++;\n        }\n        n = 3;\n");
    let (_project, file, mut client) = opened(&text);
    let actions = client.actions(&file);
    let titles: Vec<&String> = actions.keys().filter(|title| title.starts_with("Suppress")).collect();
    assert_eq!(titles, ["Suppress this race with a comment at the field"]);
    let suppressed = client.after(&file, &actions[titles[0]]);
    assert!(suppressed.contains("-- reviewed:\n    private int n;"), "{suppressed}");
    client.put(&file, &suppressed);
    client.settle();
    assert!(client.underlined(&file).is_empty());
}

#[test]
fn a_loop_that_waits_is_not_put_under_the_lock_it_waits_for() {
    let text = "class Flag {
    boolean done;
    void loop() {
        while (!done) Thread.onSpinWait();
    }
    void finish() {
        done = true;
    }
    public static void main(String[] args) {
        Flag flag = new Flag();
        new Thread(() -> flag.loop()).start();
        flag.finish();
    }
}
";
    let (_project, file, mut client) = opened(text);
    let actions = client.actions(&file);
    assert!(!actions.keys().any(|title| title.contains("ynchronized")), "{:?}", actions.keys());
    let fixed = client.after(&file, actions.get("Make done volatile").expect("offered"));
    assert!(fixed.contains("volatile boolean done;"), "{fixed}");
    // Where nothing waits, a lock may do.
    client.put(&file, &text.replace("while", "if"));
    client.settle();
    let titles: Vec<String> = client.actions(&file).into_keys().collect();
    assert!(titles.iter().any(|title| title.contains("ynchronized")), "{titles:?}");
}

#[test]
fn the_other_side_is_shown() {
    let (_project, file, mut client) = opened(COUNTER);
    let at = json!({"textDocument": {"uri": uri(&file)}, "position": {"line": 11, "character": 8}});
    let others = client.request("snarl/otherSide", at);
    assert_eq!(others[0]["range"]["start"]["line"], 6);
    assert!(client.actions(&file).keys().any(|title| title == "Go to the other side (Counter.java:12)"));
    let arguments = json!([uri(&file), 11, 8]);
    let params = json!({"command": "snarl.otherSide", "arguments": arguments});
    assert_eq!(client.request("workspace/executeCommand", params)["range"]["start"]["line"], 6);
}

#[test]
fn other_files_follow_a_signature_that_changes() {
    let holder = "public class Holder {\n    public volatile int n;\n}\n";
    let user = "class User {
    public static void main(String[] args) {
        Holder holder = new Holder();
        new Thread(() -> { holder.n = 1; }).start();
        holder.n = 2;
    }
}
";
    let (project, paths) = project(&[("Holder.java", holder), ("User.java", user)]);
    let mut client = Client::open(project.path());
    client.open_file(&paths[0]);
    client.settle();
    assert_eq!(client.findings().len(), 0);
    client.put(&paths[0], &holder.replace("volatile int", "long"));
    client.settle();
    // In the file that is not open.
    assert_eq!(client.underlined(&paths[1]), [("race".to_owned(), 4), ("race".to_owned(), 5)]);
}

#[test]
fn closing_a_file_takes_back_what_was_not_saved() {
    let (_project, file, mut client) = opened(COUNTER);
    client.put(&file, &COUNTER.replace("n--;", ";"));
    client.settle();
    assert_eq!(client.findings().len(), 0);
    client.close_file(&file);
    client.wait(|client| client.state["findings"] == 1, "what is on disk counts");
}

#[test]
fn on_save_nothing_happens_before_it_is_saved() {
    let (project, paths) = project(&[("Counter.java", COUNTER)]);
    let capabilities = json!({"experimental": {"snarl": true}});
    let mut client = Client::with(&[project.path()], capabilities, json!({"run": "save"}));
    client.open_file(&paths[0]);
    client.settle();
    assert_eq!(client.underlined(&paths[0]), race());
    let text = COUNTER.replace("n--;", ";");
    client.put(&paths[0], &text);
    assert_eq!(client.findings().len(), 1);
    fs::write(&paths[0], &text).expect("written");
    client.notify("textDocument/didSave", json!({"textDocument": {"uri": uri(&paths[0])}}));
    client.settle();
    assert_eq!(client.findings().len(), 0);
}

#[test]
fn settings_say_what_is_shown() {
    let (_project, file, mut client) = opened(COUNTER);
    let set = |client: &mut Client, settings: Value| {
        client.notify("workspace/didChangeConfiguration", json!({"settings": {"snarl": settings}}));
    };
    set(&mut client, json!({"rules": {"race": false}}));
    client.wait(|client| client.underlined(&file).is_empty(), "races are off");
    set(&mut client, json!({}));
    client.wait(|client| !client.underlined(&file).is_empty(), "races are on");
    set(&mut client, json!({"exclude": ["**/Counter.java", "Counter.java"]}));
    client.wait(|client| client.underlined(&file).is_empty(), "the file is left out");
    // What is not said again is as it was said at first.
    set(&mut client, json!({"engine": "compositional"}));
    client
        .wait(|client| client.state["state"] == "ready" && client.state["findings"] != 0, "the other engine");
}

#[test]
fn clients_that_ask_are_not_told_and_those_that_do_not_are() {
    let (project, paths) = project(&[("Counter.java", COUNTER)]);
    let capabilities = json!({
        "textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": true}},
        "experimental": {"snarl": true},
    });
    let mut client = Client::with(&[project.path()], capabilities, json!({}));
    client.open_file(&paths[0]);
    client.settle();
    assert!(client.published.is_empty());
    assert!(client.heard.contains(&"workspace/diagnostic/refresh".to_owned()));
    let params = json!({"textDocument": {"uri": uri(&paths[0])}});
    let report = client.request("textDocument/diagnostic", params.clone());
    assert_eq!((&report["kind"], report["items"].as_array().map(Vec::len)), (&json!("full"), Some(2)));
    let mut again = params;
    again["previousResultId"] = report["resultId"].clone();
    assert_eq!(client.request("textDocument/diagnostic", again.clone())["kind"], "unchanged");
    let all = client.request("workspace/diagnostic", json!({"previousResultIds": []}));
    assert_eq!(all["items"][0]["uri"], json!(uri(&paths[0])));
    // At once, in the text as it is now.
    client.type_at(&paths[0], 0, 0, "\n");
    let moved = client.request("textDocument/diagnostic", again);
    assert_eq!(moved["items"][0]["range"]["start"]["line"], 7);
}

#[test]
fn a_file_that_is_not_saved_yet_is_underlined() {
    let (project, paths) = project(&[("Other.java", "class Other { }")]);
    let capabilities = json!({"experimental": {"snarl": true}});
    let mut client = Client::with(&[project.path()], capabilities, json!({}));
    client.open_file(&paths[0]);
    client.settle();
    let new = project.path().join("Counter.java");
    client.open_text(&new, COUNTER);
    client.settle();
    assert_eq!(client.underlined(&new), race());
    client.close_file(&new);
    client.wait(|client| client.underlined(&new).is_empty(), "nobody will ever see it");
}

#[test]
fn two_projects_in_one_window_have_their_own_findings() {
    let (one, in_one) = project(&[("Counter.java", COUNTER)]);
    let (two, in_two) = project(&[("Counter.java", COUNTER)]);
    let capabilities = json!({"experimental": {"snarl": true}});
    let mut client = Client::with(&[one.path(), two.path()], capabilities, json!({}));
    client.open_file(&in_one[0]);
    client.open_file(&in_two[0]);
    client.settle();
    assert_eq!(client.findings().len(), 2);
    client.put(&in_one[0], &COUNTER.replace("n--;", ";"));
    client.settle();
    assert!(client.underlined(&in_one[0]).is_empty());
    assert_eq!(client.underlined(&in_two[0]), race());
    let folder = json!({"uri": uri(two.path()), "name": "two"});
    let event = json!({"event": {"added": [], "removed": [folder]}});
    client.close_file(&in_two[0]);
    client.notify("workspace/didChangeWorkspaceFolders", event);
    client.wait(|client| client.underlined(&in_two[0]).is_empty(), "what is gone is not shown");
}

#[test]
fn a_file_alone_is_analysed_with_what_lies_around_it() {
    let (_project, paths) = project(&[("Counter.java", COUNTER)]);
    let mut client = Client::with(&[], json!({"experimental": {"snarl": true}}), json!({}));
    client.open_file(&paths[0]);
    client.settle();
    assert_eq!(client.underlined(&paths[0]), race());
}

#[test]
fn a_built_project_is_edited_over_the_classes_of_its_build() {
    let files = [
        ("pom.xml", "<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>"),
        ("src/main/java/p/Counter.java", &*format!("package p;\n{COUNTER}")),
        ("src/main/java/p/Other.java", "package p;\nclass Other extends Counter { }\n"),
    ];
    let (project, paths) = project(&files);
    let classes = project.path().join("target/classes");
    let compiled = std::process::Command::new(javac()).arg("-d").arg(&classes).args(&paths[1..]).status();
    assert!(compiled.expect("javac runs").success());
    let mut client = Client::open(project.path());
    client.open_file(&paths[1]);
    client.settle();
    let there = vec![("race".to_owned(), 8), ("race".to_owned(), 13)];
    assert_eq!(client.underlined(&paths[1]), there);
    let text = fs::read_to_string(&paths[1]).expect("a file");
    client.put(&paths[1], &text.replace("n--;", ";"));
    client.settle();
    assert!(client.underlined(&paths[1]).is_empty());
    client.put(&paths[1], &text);
    client.settle();
    assert_eq!(client.underlined(&paths[1]), there);
}

fn javac() -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    home.map_or_else(|| Path::new("javac").to_path_buf(), |home| home.join("bin/javac"))
}

#[test]
fn what_is_said_later_is_laid_over_what_was_said_at_first() {
    let (project, paths) = project(&[("Counter.java", COUNTER)]);
    let capabilities = json!({"experimental": {"snarl": true}});
    let mut client = Client::with(&[project.path()], capabilities, json!({"rules": {"race": false}}));
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"snarl": {"debounce": 1}}}));
    client.open_file(&paths[0]);
    client.settle();
    assert!(client.underlined(&paths[0]).is_empty());
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"snarl": {"rules": {}}}}));
    client.wait(|client| !client.underlined(&paths[0]).is_empty(), "races are on");
}

#[test]
fn a_field_and_a_lock_tell_who_touches_what() {
    let (_project, file, mut client) = opened(COUNTER);
    let mut words = |line: u32, character: u32| {
        let at =
            json!({"textDocument": {"uri": uri(&file)}, "position": {"line": line, "character": character}});
        let hover = client.request("textDocument/hover", at);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let (declared, used, lock) = (words(1, 16), words(11, 8), words(5, 10));
    assert_eq!(declared, used);
    for wanted in ["**n**", "inc()", "dec()", "lock", "main thread"] {
        assert!(declared.contains(wanted), "{wanted}: {declared}");
    }
    assert!(lock.contains("lock") && lock.contains("inc"), "{lock}");
    assert_eq!(words(0, 0), "");
}

#[test]
fn a_field_does_not_tell_what_is_suppressed() {
    let (_project, file, mut client) = opened(COUNTER);
    let message = client.findings()[0]["message"].as_str().expect("a message").to_owned();
    let at = json!({"textDocument": {"uri": uri(&file)}, "position": {"line": 1, "character": 16}});
    let words = |client: &mut Client| {
        let hover = client.request("textDocument/hover", at.clone());
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let told = words(&mut client);
    assert!(told.contains(&message), "{message}: {told}");
    client
        .put(&file, &COUNTER.replace("        n--;", "        // snarl: ignore race -- told\n        n--;"));
    client.settle();
    assert!(client.findings().is_empty());
    let told = words(&mut client);
    assert!(told.contains("dec()") && !told.contains(&message), "{message}: {told}");
}

#[test]
fn guards_are_shown_beside_fields_if_somebody_wants_them() {
    let guarded =
        COUNTER.replace("        n--;\n", "        synchronized (lock) {\n            n--;\n        }\n");
    let (project, paths) = project(&[("Counter.java", &guarded)]);
    let capabilities = json!({"experimental": {"snarl": true}});
    let mut client = Client::with(&[project.path()], capabilities, json!({"guards": "hint"}));
    client.open_file(&paths[0]);
    client.settle();
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": uri(&paths[0])}, "range": range});
    let hints = client.request("textDocument/inlayHint", params.clone());
    assert_eq!(hints[0]["position"], json!({"line": 1, "character": 17}));
    assert!(hints[0]["label"].as_str().is_some_and(|label| label.starts_with("guarded by")), "{hints}");
    assert_eq!(client.request("textDocument/codeLens", params), json!([]));
}
