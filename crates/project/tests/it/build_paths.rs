//! What a build tool has said counts, as long as the build is the one it was said of.

use crate::support::{Place, class, layer, notes, place};
use classfile::Layer;
use project::{Build, Environment, Project, Request, SourceModule, Watched, open_in};

/// Two modules, and a jar that no pom names.
fn two_modules() -> Place {
    let place = place();
    let pom = |artifact: &str, body: &str| {
        format!(
            "<project><groupId>g</groupId><artifactId>{artifact}</artifactId><version>1</version>{body}</project>"
        )
    };
    let modules = "<modules><module>core</module><module>app</module></modules>";
    place.write("all/pom.xml", pom("all", modules));
    place.write("all/core/pom.xml", pom("core", ""));
    let wrong = "<dependencies><dependency><groupId>x</groupId><artifactId>y</artifactId>\
                 <version>${nobody.knows}</version></dependency></dependencies>";
    place.write("all/app/pom.xml", pom("app", wrong));
    place.write("all/core/src/main/java/c/C.java", "package c; public class C {}");
    place.write("all/app/code/a/A.java", "package a; class A { c.C c; l.L l; }");
    place.jar("jars/l.jar", &[("l/L.class", &class("l/L"))]);
    place
}

fn answer(place: &Place) -> String {
    let all = place.path("all").canonicalize().unwrap();
    let (all, jar) = (all.display(), place.path("jars/l.jar"));
    format!(
        "module {all}\nmodule {all}/core\nlevel 11\nmodule {all}/app\nlevel 1.8\nsource {all}/app/code\n\
         output {all}/app/out\nneeds {all}/core\njar {}\nend\n",
        jar.display()
    )
}

fn build(place: &Place) -> Build {
    Build::at(&place.path("all")).expect("a build")
}

fn request(place: &Place) -> Request {
    Request { paths: vec![place.path("all")], ..Request::default() }
}

fn opened(place: &Place) -> Project {
    let environment = Environment { home: Some(place.path("home")), ..Environment::current() };
    open_in(&request(place), &environment).unwrap_or_else(|error| panic!("{error}"))
}

fn modules(place: &Place) -> Vec<SourceModule> {
    Watched::open_for_editing(&request(place)).unwrap_or_else(|error| panic!("{error}")).modules().to_vec()
}

#[test]
fn what_the_tool_says_takes_the_place_of_what_poms_seem_to_say() {
    let place = two_modules();
    assert_eq!(notes(&opened(&place)), [("missing-dependency".to_string(), 1)]);
    assert!(!build(&place).is_known);
    assert!(build(&place).keep(&answer(&place)).unwrap());
    assert!(build(&place).is_known);
    let project = opened(&place);
    assert_eq!(layer(&project, "l/L"), Some(Layer::Library));
    assert_eq!(layer(&project, "a/A"), Some(Layer::App), "the sources are where the tool says");
    assert_eq!(notes(&project), []);
    assert!(!build(&place).keep(&answer(&place)).unwrap(), "the same again is nothing new");
}

#[test]
fn each_module_is_compiled_with_what_the_tool_says_of_it() {
    let place = two_modules();
    build(&place).keep(&answer(&place)).unwrap();
    place.classes(&[("all/core/target/classes/c/C.class", "c/C")]);
    let modules = modules(&place);
    let of = |name: &str| modules.iter().find(|module| module.directory.ends_with(name)).expect("a module");
    let (core, app) = (of("core"), of("app"));
    assert_eq!((core.level, app.level), (Some(11), Some(8)));
    assert_eq!(app.depends_on, [place.path("all/core")]);
    let needed = place.path("all/core/target/classes");
    assert_eq!(core.class_path, std::slice::from_ref(&needed));
    assert_eq!(app.class_path, [needed, place.path("jars/l.jar")]);
    assert_eq!(app.sources, [place.path("all/app/code/a/A.java")]);
}

#[test]
fn an_answer_of_another_build_or_without_its_jars_or_its_end_does_not_count() {
    let place = two_modules();
    let is_used = || layer(&opened(&place), "l/L").is_some();
    build(&place).keep(&answer(&place)).unwrap();
    assert!(is_used());

    let pom = std::fs::read_to_string(place.path("all/app/pom.xml")).unwrap();
    place.write("all/app/pom.xml", format!("{pom}<!-- -->"));
    assert!(!is_used() && !build(&place).is_known);
    place.write("all/app/pom.xml", &pom);
    assert!(is_used(), "it is the same build again");

    place.write("all/.mvn/maven.config", "-Dnobody.knows=1");
    assert!(!is_used());
    std::fs::remove_dir_all(place.path("all/.mvn")).unwrap();
    assert!(is_used());

    let jar = std::fs::read(place.path("jars/l.jar")).unwrap();
    std::fs::remove_file(place.path("jars/l.jar")).unwrap();
    assert!(!build(&place).is_known);
    place.write("jars/l.jar", jar);

    let kept = std::fs::read(place.path("all/.snarl/build-paths")).unwrap();
    for end in 0..kept.len() - 1 {
        place.write("all/.snarl/build-paths", &kept[..end]);
        assert!(!build(&place).is_known, "{end}");
    }
    assert!(build(&place).keep("module /x\n").is_err());
    assert!(build(&place).keep("jar /x\nend\n").is_err(), "a jar of no module");
}

#[test]
fn what_is_not_there_when_it_is_told_is_nothing_to_wait_for() {
    let place = two_modules();
    let answer = answer(&place).replace("end\n", "jar /nowhere/classes\nend\n");
    build(&place).keep(&answer).unwrap();
    assert!(build(&place).is_known && layer(&opened(&place), "l/L").is_some());
}

#[test]
fn a_module_that_the_tool_does_not_know_is_read_and_asked_about_again() {
    let place = two_modules();
    let all = place.path("all").canonicalize().unwrap();
    build(&place).keep(&format!("module {}/app\nunknown\nend\n", all.display())).unwrap();
    assert!(!build(&place).is_known);
    assert_eq!(notes(&opened(&place)), [("missing-dependency".to_string(), 1)]);
}

#[test]
fn an_answer_that_comes_too_late_is_not_kept() {
    let place = two_modules();
    let asked = build(&place);
    place.write("all/.mvn/maven.config", "-Pother");
    assert!(asked.keep(&answer(&place)).is_err());
    assert!(build(&place).keep(&answer(&place)).unwrap());
}

#[test]
fn builds_are_others_when_they_move_or_when_a_file_changes_that_only_the_tool_knows() {
    let place = two_modules();
    let parent = place.write("parent/pom.xml", "<project/>");
    place.write("all/web/pom.xml", "<project/>");
    let all = place.path("all").canonicalize().unwrap();
    let more = format!("module {}/web\nfile {}\nend\n", all.display(), parent.display());
    build(&place).keep(&answer(&place).replace("end\n", &more)).unwrap();
    let known = build(&place);
    assert!(known.is_known);
    for file in ["parent/pom.xml", "all/web/pom.xml", "all/scripts/common.gradle"] {
        let before = std::fs::read(place.path(file)).ok();
        place.write(file, "<project><!-- --></project>");
        let changed = build(&place);
        assert!(!changed.is_known && changed.fingerprint != known.fingerprint, "{file}");
        match before {
            Some(before) => _ = place.write(file, before),
            None => std::fs::remove_file(place.path(file)).unwrap(),
        }
    }
    std::fs::create_dir(place.path("all/.gradle")).unwrap();
    assert!(build(&place).is_known, "what a build leaves is no part of it");
    std::fs::rename(place.path("all"), place.path("moved")).unwrap();
    assert!(!Build::at(&place.path("moved")).expect("a build").is_known);
}

#[test]
fn classes_are_taken_from_where_the_tool_puts_them() {
    let place = two_modules();
    build(&place).keep(&answer(&place)).unwrap();
    place.classes(&[("all/app/target/classes/a/Old.class", "a/Old"), ("all/app/out/a/A.class", "a/A")]);
    let project = opened(&place);
    assert_eq!((layer(&project, "a/Old"), layer(&project, "a/A")), (None, Some(Layer::App)));
}

#[test]
fn who_follows_the_project_goes_on_with_the_last_answer() {
    let place = two_modules();
    build(&place).keep(&answer(&place)).unwrap();
    let mut watched = Watched::open_for_editing(&request(&place)).unwrap_or_else(|error| panic!("{error}"));
    let before = watched.modules().to_vec();
    place.write("all/core/pom.xml", "<project> half");
    let refresh = watched.refresh(std::time::Instant::now());
    assert_eq!(refresh.modules, before);
    assert!(!refresh.builds[0].is_known);
    assert!(notes(&refresh.project).iter().any(|(kind, _)| kind == "outdated-build-paths"));
    assert_eq!(layer(&opened(&place), "l/L"), None, "who opens it anew knows no answer");
}

#[test]
fn what_was_missing_is_asked_for_again_and_used_once_it_is_here() {
    let place = two_modules();
    let answer = answer(&place).replace("end\n", "missing x:y:2\nend\n");
    build(&place).keep(&answer).unwrap();
    assert!(!build(&place).is_known);
    assert_eq!(notes(&opened(&place)), [("missing-dependency".to_string(), 1)]);
    place.jar("home/.m2/repository/x/y/2/y-2.jar", &[("y/Y.class", &class("y/Y"))]);
    let project = opened(&place);
    assert_eq!((layer(&project, "y/Y"), notes(&project)), (Some(Layer::Library), vec![]));
}

#[test]
fn who_follows_the_project_notices_an_answer() {
    let place = two_modules();
    let mut watched = Watched::open_for_editing(&request(&place)).unwrap_or_else(|error| panic!("{error}"));
    let before = watched.modules().to_vec();
    build(&place).keep(&answer(&place)).unwrap();
    assert!(watched.wait(std::time::Duration::from_secs(60)), "a report");
    let refresh = watched.refresh(std::time::Instant::now());
    assert_ne!(refresh.modules, before);
    assert!(refresh.modules.iter().any(|module| module.class_path.contains(&place.path("jars/l.jar"))));
}
