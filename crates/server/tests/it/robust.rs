//! Whatever a client does, the server answers properly or ends cleanly.

use crate::client::{Client, uri};
use serde_json::{Value, json};
use server::Ended;
use std::fs;
use std::path::Path;

const RACE: &str = "class Main {\n    static int n;\n    public static void main(String[] a) {\n        \
    new Thread(() -> n++).start();\n        n++;\n    }\n}\n";

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().expect("an error")
}

#[test]
fn what_is_malformed_is_answered_and_the_conversation_goes_on() {
    let mut client = Client::start();
    for bytes in ["Content-Length: 3\r\n\r\n{a}", "nonsense\r\n", "Content-Length: x\r\n\r\n"] {
        client.raw(bytes.as_bytes());
        assert_eq!(code(&client.next()), -32700);
    }
    assert_eq!(code(&client.ask("textDocument/hover", json!({}))), -32002);
    client.request("initialize", json!({"capabilities": {}}));
    assert_eq!(code(&client.ask("initialize", json!({}))), -32600);
    assert_eq!(code(&client.ask("no/such", json!({}))), -32601);
    assert_eq!(code(&client.ask("workspace/executeCommand", json!({"command": "x"}))), -32602);
    for method in ["textDocument/didChange", "textDocument/didOpen", "no/such", "$/cancelRequest", "$/x"] {
        client.notify(method, json!({"textDocument": 7, "contentChanges": {}, "id": []}));
        client.notify(method, json!([]));
    }
    for method in ["textDocument/hover", "textDocument/codeAction", "textDocument/diagnostic"] {
        client.ask(method, Value::Null);
    }
    assert_eq!(client.shut_down(), Ended::Properly);
}

#[test]
fn after_shutdown_nothing_is_done_and_a_client_that_is_gone_ends_it() {
    let mut client = Client::start();
    client.request("initialize", json!({"capabilities": {}}));
    client.request("shutdown", Value::Null);
    assert_eq!(code(&client.ask("textDocument/hover", json!({}))), -32600);
    assert_eq!(client.hang_up(), Ended::Abruptly);
    let project = tempfile::tempdir().expect("a directory");
    fs::write(project.path().join("Main.java"), RACE).expect("written");
    // In the middle of its work.
    assert_eq!(Client::open(project.path()).hang_up(), Ended::Abruptly);
}

#[test]
fn files_outside_of_the_project_and_texts_of_no_file_do_no_harm() {
    let (project, elsewhere) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("another"));
    let main = project.path().join("Main.java");
    fs::write(&main, RACE).expect("written");
    let mut client = Client::open(project.path());
    client.open_file(&main);
    client.settle();
    let document = json!({"uri": "untitled:Untitled-1", "languageId": "java", "version": 1, "text": RACE});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    let outside = elsewhere.path().join("Other.java");
    let document = json!({"uri": uri(&outside), "languageId": "java", "version": 1, "text": RACE});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    let at = json!({"textDocument": {"uri": uri(&outside)}, "position": {"line": 1, "character": 16}});
    assert_eq!(client.request("textDocument/hover", at), Value::Null);
    assert_eq!(client.findings().len(), 1);
    assert!(client.published.keys().all(|name| *name == uri(&main)));
    assert_eq!(client.shut_down(), Ended::Properly);
}

#[test]
fn a_directory_that_vanishes_and_comes_back_is_followed() {
    let project = tempfile::tempdir().expect("a directory");
    let package = project.path().join("p");
    let write = || {
        fs::create_dir_all(&package).expect("made");
        let text = format!("package p;\n{RACE}");
        fs::write(package.join("Main.java"), text).expect("written");
    };
    write();
    fs::write(project.path().join("Still.java"), "class Still { }").expect("written");
    let mut client = Client::open(project.path());
    client.wait(|client| client.state["state"] == "ready", "the first analysis");
    assert_eq!(client.findings().len(), 1);
    fs::remove_dir_all(&package).expect("removed");
    client.wait(|client| client.state["findings"] == 0, "nothing is left");
    write();
    client.wait(|client| client.state["findings"] == 1, "the race is back");
    assert_eq!(client.shut_down(), Ended::Properly);
}

#[test]
fn a_project_without_sources_is_analysed_once_it_has_some() {
    let project = tempfile::tempdir().expect("a directory");
    let mut client = Client::open(project.path());
    client.wait(|client| client.state["state"] == "failed", "there is nothing");
    let main = project.path().join("Main.java");
    fs::write(&main, RACE).expect("written");
    client.open_file(&main);
    client.settle();
    assert_eq!(client.findings().len(), 1);
}

#[test]
fn a_file_of_twenty_thousand_lines_is_edited_like_any_other() {
    let project = tempfile::tempdir().expect("a directory");
    let main = project.path().join("Main.java");
    let many: String =
        (0..6000).map(|n| format!("    int f{n}() {{\n        return {n};\n    }}\n")).collect();
    let text = RACE.replace("    static int n;\n", &format!("    static int n;\n{many}"));
    fs::write(&main, &text).expect("written");
    let mut client = Client::open(project.path());
    client.open_file(&main);
    client.settle();
    assert_eq!(client.underlined(&main).len(), 2);
    let at = text.rfind("        n++;").expect("the access");
    client.type_at(&main, at, 0, "// ");
    client.settle();
    assert!(client.underlined(&main).is_empty());
}

#[test]
fn nothing_is_written_into_the_project() {
    let project = tempfile::tempdir().expect("a directory");
    fs::write(project.path().join("Main.java"), RACE).expect("written");
    fs::write(project.path().join("snarl.toml"), "").expect("written");
    let mut client = Client::open(project.path());
    client.open_file(&project.path().join("Main.java"));
    client.settle();
    client.shut_down();
    let names = |directory: &Path| {
        let entries = fs::read_dir(directory).expect("a directory").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != ".snarl");
        names.sort();
        names
    };
    assert_eq!(names(project.path()), ["Main.java", "snarl.toml"]);
}

#[test]
fn where_nothing_can_be_kept_everything_else_works() {
    let project = tempfile::tempdir().expect("a directory");
    // As good as a disk that is full: nothing can be written below it.
    fs::write(project.path().join(".snarl"), "").expect("written");
    let file = project.path().join("Main.java");
    fs::write(&file, RACE).expect("written");
    let mut client = Client::open(project.path());
    client.open_file(&file);
    client.settle();
    assert_eq!(client.underlined(&file).len(), 2);
    client.put(&file, &RACE.replace("        n++;\n", ""));
    client.settle();
    assert!(client.underlined(&file).is_empty());
    assert!(!client.heard.iter().any(|method| method == "window/showMessage"));
    assert_eq!(client.shut_down(), Ended::Properly);
}

#[cfg(unix)]
#[test]
fn a_file_is_known_by_whatever_link_leads_to_it() {
    let project = tempfile::tempdir().expect("a directory");
    let links = tempfile::tempdir().expect("a directory");
    let (real, link) = (project.path().join("Main.java"), links.path().join("linked/Main.java"));
    fs::write(&real, RACE).expect("written");
    std::os::unix::fs::symlink(project.path(), links.path().join("linked")).expect("a link");
    for (root, file) in [(project.path(), &link), (link.parent().expect("a root"), &real)] {
        let mut client = Client::open(root);
        client.open_file(file);
        client.settle();
        assert_eq!(client.underlined(file).len(), 2);
        let actions = client.actions(file);
        let fixed = client.after(file, actions.get("Suppress this race with a comment").expect("offered"));
        assert!(fixed.contains("// snarl: ignore"), "{fixed}");
        client.put(file, &RACE.replace("        n++;\n", ""));
        client.settle();
        assert!(client.underlined(file).is_empty());
        client.shut_down();
    }
}
