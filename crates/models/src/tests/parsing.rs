//! The grammar of the steps and of the files, and where errors are placed.

use crate::file;
use crate::parse;
use crate::registry::{ModelError, Models};
use crate::step::{Member, Model, Operand, Outcome, Root, Source, Spawn, Step};

fn parsed(text: &str) -> Model {
    parse::model(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn steps(text: &str) -> Vec<Step> {
    parsed(text).steps
}

fn operand(root: Root, path: &[&str]) -> Operand {
    let member = |name: &&str| match *name {
        "[]" => Member::Elements,
        name => Member::Model(name.to_owned()),
    };
    Operand { root, path: path.iter().map(member).collect() }
}

fn this() -> Operand {
    operand(Root::This, &[])
}

fn error(text: &str) -> ModelError {
    file::read("test.toml", text).expect_err("the file is wrong")
}

#[test]
fn a_thread_starts_its_own_run_and_its_task() {
    let spawn = |receiver| {
        Step::Spawn(Spawn {
            receiver,
            method: "run".to_owned(),
            args: vec![],
            result: None,
            executor: None,
            handle: Some(this()),
            after: vec![],
            serial: false,
            once: false,
            repeat: false,
            parallel: false,
            waits: false,
            when_parallel: false,
        })
    };
    assert_eq!(
        steps("spawn this.run() handle this; spawn this.$task.run() handle this"),
        [spawn(this()), spawn(operand(Root::This, &["task"]))]
    );
}

#[test]
fn every_option_of_a_spawn_is_read() {
    let text = "spawn p0[].apply(this.$elem, p1) into ret.$elem on this handle ret after p2 after this serial once repeat parallel \
                waits when-parallel";
    let expected = Spawn {
        receiver: operand(Root::Param(0), &["[]"]),
        method: "apply".to_owned(),
        args: vec![operand(Root::This, &["elem"]), operand(Root::Param(1), &[])],
        result: Some(operand(Root::Ret, &["elem"])),
        executor: Some(this()),
        handle: Some(operand(Root::Ret, &[])),
        after: vec![operand(Root::Param(2), &[]), this()],
        serial: true,
        once: true,
        repeat: true,
        parallel: true,
        waits: true,
        when_parallel: true,
    };
    assert_eq!(steps(text), [Step::Spawn(expected)]);
}

#[test]
fn words_about_the_model_are_no_steps() {
    let kept = parsed("body; write this");
    assert!(kept.keep_body && !kept.own);
    assert_eq!(kept.steps, [Step::Write { on: this() }]);
    let own = parsed("own; call this.$task.run();");
    assert!(own.own && !own.keep_body);
    assert_eq!(own.steps.len(), 1);
    assert_eq!(parsed("nothing"), Model::default());
}

#[test]
fn classes_are_given_by_internal_name() {
    let class = |text: &str| match steps(text).remove(0) {
        Step::Assign { src: Source::New { class, .. } | Source::The { class, .. }, .. } => class,
        other => panic!("{other:?}"),
    };
    assert_eq!(class("ret = new java.util.Map$Entry"), "java/util/Map$Entry");
    assert_eq!(class("ret = the java.util.List serial"), "java/util/List");
    assert_eq!(class("t0 = new java.lang.Object[]"), "[Ljava/lang/Object;");
}

#[test]
fn calls_may_keep_their_result() {
    let call = |dst| Step::Call {
        dst,
        receiver: operand(Root::Param(0), &[]),
        method: "apply".to_owned(),
        args: vec![operand(Root::Param(1), &["[]"])],
    };
    assert_eq!(steps("call p0.apply(p1[])"), [call(None)]);
    assert_eq!(steps("ret.$value = call p0.apply(p1[])"), [call(Some(operand(Root::Ret, &["value"])))]);
}

#[test]
fn every_other_step_is_read() {
    let text = "join this; covers ret p0[]; join-all this; acquire this shared try; release this shared; \
                view this shared; signal this; await this; permits this p0; read this; write this; give p0; \
                take ret; publish p0; store-handle this p0 p1; store-unsafe p0 p3; escape p0; ret = copy this; \
                ret = class-named p0; ret = instance-of this; ret = class-of this; ret = services p0; \
                ret = field-handle p0 p1; ret = load-handle this p0; ret = load-unsafe p0; ret = current-thread; \
                ret = opaque; ret = new-result; p2[] = p0[]";
    assert_eq!(steps(text).len(), 29);
}

#[test]
fn waiting_may_depend_on_the_result() {
    let join = |when| Step::Join { handle: this(), when };
    assert_eq!(steps("join this"), [join(Outcome::Any)]);
    assert_eq!(steps("join this if-false"), [join(Outcome::False)]);
    assert_eq!(steps("await this if-true"), [Step::Await { on: this(), when: Outcome::True }]);
    assert_eq!(
        steps("join-all this unless-false"),
        [Step::JoinAll { executor: this(), when: Outcome::NotFalse }]
    );
}

#[test]
fn syntax_errors_say_what_is_wrong() {
    let message = |text: &str| parse::model(text).expect_err(text).message;
    assert_eq!(message("jump this"), "unknown step `jump`");
    assert_eq!(message("join that"), "bad operand `that`: expected `this`, `ret`, `p0` or `t0`");
    assert_eq!(
        message("join this.task"),
        "bad operand: only model fields (`$name`) and elements (`[]`) can follow"
    );
    assert_eq!(message("join this.$"), "a model field needs a name after `$`");
    assert_eq!(message("spawn p0.run() soon"), "unknown option `soon` of `spawn`");
    assert_eq!(message("acquire this shared now"), "expected `;`");
    assert_eq!(
        message("spawn p0.run"),
        "bad operand: only model fields (`$name`) and elements (`[]`) can follow"
    );
    assert_eq!(message("call p0.run(this"), "expected `,`");
    assert_eq!(
        message("ret = maybe"),
        "bad operand `maybe`: expected `this`, `ret`, `p0`, `t0` or a source such as `new`"
    );
    assert!(message("p0 = this").starts_with("cannot assign to the receiver"));
    assert_eq!(message("join {this}"), "unexpected `{`");
    assert!(message(" ").starts_with("a model needs a step"));
}

#[test]
fn errors_carry_file_and_line() {
    let text = "[\"a.B\"]\n\"one()\" = \"nothing\"\n\"two()\" = \"jump this\"\n";
    assert_eq!(error(text).to_string(), "test.toml:3: unknown step `jump`");
    let text = "[\"a.B\"]\n\"one()\" = \"\"\"\nread this;\n  jump this\n\"\"\"\n";
    assert_eq!(error(text).to_string(), "test.toml:4: unknown step `jump`");
    let text = "[\"a.B\"]\nthorough = true\n";
    assert_eq!(
        error(text).to_string(),
        "test.toml:2: unknown key `thorough`: expected `name(Types)`, `name(*)`, `exact`, `like` or `since`"
    );
    assert_eq!(error("[\"a.B\"]\n\"x()\" = 3\n").to_string(), "test.toml:2: expected a string");
    assert_eq!(error("\n[\"a.B\"\n").line, 2);
    assert_eq!(error("[a.B]\n\"x()\" = \"nothing\"\n").message, "put the class name in quotes: [\"a.…\"]");
    assert_eq!(
        error("[\"a.B\"]\n\"x(int)\" = \"join p1\"").message,
        "bad operand `p1`: `x` has 1 parameters"
    );
    assert_eq!(error("[policy.quiet]\nquiet = []").to_string(), "test.toml:2: unknown key `quiet`");
    assert_eq!(error("[policy.loud]\nopaque = []").message, "unknown policy `loud`");
    assert_eq!(
        error("[policy.quiet]\nopaque = [\n\"a b\"]").to_string(),
        "test.toml:3: this is no class pattern"
    );
}

#[test]
fn a_table_can_take_over_another() {
    let text = "[\"a.B\"]\n\"x()\" = \"read this\"\n\"y()\" = \"read this\"\n\
                [\"a.C\"]\nlike = \"a.B\"\n\"y()\" = \"write this\"\n";
    let read = file::read("test.toml", text).expect("the file is right");
    let of_c = read.entries.iter().filter(|entry| entry.class == "a/C");
    let of_c: Vec<_> = of_c.map(|entry| (entry.signature.name.as_str(), entry.model.steps.clone())).collect();
    assert_eq!(of_c, [("x", vec![Step::Read { on: this() }]), ("y", vec![Step::Write { on: this() }])]);
    let text = "[\"a.C\"]\nlike = \"a.B\"\n";
    assert_eq!(error(text).to_string(), "test.toml:2: there is no table of `a.B` in this file");
}

#[test]
fn the_examples_of_the_documentation_are_right() {
    let page = include_str!("../../../../docs/models.md");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        if let Err(error) = file::read("docs/models.md", example) {
            panic!("{error} in\n{example}");
        }
    }
}

#[test]
fn a_bad_file_leaves_the_models_alone() {
    let mut models = Models::builtin();
    assert!(models.add("mine.toml", "[\"a.B\"]\n\"x()\" = \"jump\"").is_err());
    assert!(models.add("mine.toml", "[\"a.B\"]\n\"x()\" = \"join this\"").is_ok());
}
