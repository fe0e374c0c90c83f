use crate::support::{Place, app, class, layer, message, notes, place};
use classfile::{ClassSource, Layer};
use project::{Environment, Error, Project, Request, open_in};
use std::time::{Duration, SystemTime};

/// Opens the directory `app` of a place whose directory `home` is the user's.
fn open(place: &Place) -> Result<Project, Error> {
    let environment = Environment { home: Some(place.path("home")), ..Environment::current() };
    open_in(&Request { paths: vec![place.path("app")], ..Request::default() }, &environment)
}

fn opened(place: &Place) -> Project {
    open(place).unwrap_or_else(|error| panic!("{error}"))
}

/// Makes a file of the place an hour younger or older than now.
fn age(place: &Place, name: &str, hours: i64) {
    let by = Duration::from_secs(3600 * hours.unsigned_abs());
    let time = if hours < 0 { SystemTime::now() - by } else { SystemTime::now() + by };
    std::fs::File::options().write(true).open(place.path(name)).unwrap().set_modified(time).unwrap();
}

fn pom(artifact: &str, body: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><groupId>g</groupId>\
         <artifactId>{artifact}</artifactId><version>1</version>{body}</project>"
    )
}

#[test]
fn a_maven_project_gives_its_compiled_classes_without_tests() {
    let place = place();
    place.write("app/pom.xml", pom("app", ""));
    place.write("app/src/main/java/a/A.java", "package a; class A {}");
    place.write("app/src/test/java/a/ATest.java", "does not compile");
    place.classes(&[("app/target/classes/a/A.class", "a/A"), ("app/target/test-classes/a/T.class", "a/T")]);
    place.write("app/target/classes/META-INF/services/x.Y", "a.A");
    age(&place, "app/target/classes/a/A.class", 1);
    let project = opened(&place);
    assert_eq!(app(&project), ["a/A"]);
    assert_eq!(project.resources("META-INF/services/x.Y"), [b"a.A"]);
    assert_eq!(notes(&project), []);
    let source = project.source_file("a/A.java").unwrap();
    assert_eq!(project.shown(&source), "src/main/java/a/A.java");
}

#[test]
fn stale_or_missing_classes_are_compiled() {
    let place = place();
    place.write("app/pom.xml", pom("app", ""));
    place.write("app/src/main/java/a/A.java", "package a; class A { class New {} }");
    assert_eq!(app(&opened(&place)), ["a/A", "a/A$New"]);
    place.classes(&[("app/target/classes/a/A.class", "a/A")]);
    age(&place, "app/target/classes/a/A.class", -1);
    assert_eq!(app(&opened(&place)), ["a/A", "a/A$New"]);
    age(&place, "app/target/classes/a/A.class", 1);
    assert_eq!(app(&opened(&place)), ["a/A"]);
}

#[test]
fn modules_compile_together_and_apart_when_their_classes_share_names() {
    let place = place();
    place.write("app/pom.xml", pom("root", "<modules><module>one</module><module>two</module></modules>"));
    place.write("app/one/pom.xml", pom("one", ""));
    place.write("app/two/pom.xml", pom("two", ""));
    place.write("app/one/src/main/java/a/A.java", "package a; public class A {}");
    place.write("app/one/src/main/java/module-info.java", "module one { requires not.here; }");
    place.write("app/two/src/main/java/b/B.java", "package b; public class B extends a.A {}");
    place.write("app/three/src/main/java/c/C.java", "does not belong to the project");
    assert_eq!(app(&opened(&place)), ["a/A", "b/B"]);

    place.write("app/one/src/main/java/Main.java", "class Main { a.A a; }");
    place.write("app/two/src/main/java/Main.java", "class Main { a.A a; b.B b; }");
    let project = opened(&place);
    assert_eq!(app(&project), ["Main", "a/A", "b/B"]);
    assert_eq!(notes(&project), [("duplicate-class".to_string(), 1)]);
}

#[test]
fn maven_dependencies_come_from_the_local_repository() {
    let place = place();
    let repository = "home/.m2/repository";
    let library = |path: &str, name: &str| {
        place.jar(&format!("{repository}/{path}.jar"), &[(&format!("{name}.class"), &class(name))]);
    };
    library("org/lib/core/2.1/core-2.1", "core/C");
    library("org/lib/managed/3.0/managed-3.0", "managed/M");
    library("org/lib/deep/4/deep-4", "deep/D");
    library("org/lib/unwanted/5/unwanted-5", "unwanted/U");
    library("org/lib/imported/6/imported-6", "imported/I");
    let dependency = |artifact: &str, rest: &str| {
        format!(
            "<dependency><groupId>org.lib</groupId><artifactId>{artifact}</artifactId>{rest}</dependency>"
        )
    };
    let core =
        [dependency("deep", "<version>4</version>"), dependency("unwanted", "<version>5</version>")].concat();
    let core = pom("core", &format!("<dependencies>{core}</dependencies>"));
    place.write(&format!("{repository}/org/lib/core/2.1/core-2.1.pom"), core);
    let bom = format!("<dependencies>{}</dependencies>", dependency("imported", "<version>${six}</version>"));
    let bom =
        format!("<properties><six>6</six></properties><dependencyManagement>{bom}</dependencyManagement>");
    place.write(&format!("{repository}/org/lib/bom/1/bom-1.pom"), pom("bom", &bom));

    let import = dependency("bom", "<version>1</version><type>pom</type><scope>import</scope>");
    let managed = dependency("managed", "<version>${managed.version}</version>");
    place.write(
        "app/pom.xml",
        pom(
            "root",
            &format!(
                "<modules><module>m</module></modules>\
                 <properties><managed.version>0</managed.version><minor>1</minor></properties>\
                 <dependencyManagement><dependencies>{managed}{import}</dependencies></dependencyManagement>"
            ),
        ),
    );
    let exclusion = "<exclusions><exclusion><groupId>org.lib</groupId><artifactId>unwanted</artifactId></exclusion></exclusions>";
    let dependencies = [
        dependency("core", &format!("<version>2.${{minor}}</version>{exclusion}")),
        dependency("managed", ""),
        dependency("imported", ""),
        dependency("gone", "<version>7</version>"),
        dependency("junit", "<version>4</version><scope>test</scope>"),
    ]
    .concat();
    place.write(
        "app/m/pom.xml",
        format!(
            "<project><parent><groupId>g</groupId><artifactId>root</artifactId><version>1</version></parent>\
             <artifactId>m</artifactId><properties><managed.version>3.0</managed.version></properties>\
             <dependencies>{dependencies}<dependency><groupId>g</groupId><artifactId>root</artifactId></dependency>\
             </dependencies></project>"
        ),
    );
    place.write("app/m/src/main/java/A.java", "class A {}");
    let project = opened(&place);
    for name in ["core/C", "managed/M", "deep/D", "imported/I"] {
        assert_eq!(layer(&project, name), Some(Layer::Library), "{name}");
    }
    assert_eq!(layer(&project, "unwanted/U"), None);
    let note = &project.notes()[0];
    assert_eq!((note.kind.as_str(), note.count), ("missing-dependency", 1));
    assert!(
        note.message.contains("org.lib:gone:7") && note.message.contains("--classpath"),
        "{}",
        note.message
    );
}

#[test]
fn jars_in_lib_directories_are_dependencies() {
    let place = place();
    let dependency =
        "<dependency><groupId>x</groupId><artifactId>dep</artifactId><version>1</version></dependency>";
    place.write("app/pom.xml", pom("app", &format!("<dependencies>{dependency}</dependencies>")));
    place.classes(&[("app/target/classes/A.class", "A")]);
    place.jar("app/target/dependency/dep-1.jar", &[("dep/D.class", &class("dep/D"))]);
    place.jar("app/lib/other.jar", &[("other/O.class", &class("other/O"))]);
    let project = opened(&place);
    assert_eq!(layer(&project, "dep/D"), Some(Layer::Library));
    assert_eq!(layer(&project, "other/O"), Some(Layer::Library));
    assert_eq!(notes(&project), []);
}

#[test]
fn a_gradle_project_gives_the_classes_of_every_language_and_module() {
    let place = place();
    place.write("app/settings.gradle.kts", "include(\":core\")");
    place.write(
        "app/core/build.gradle",
        "dependencies {\n    implementation 'org.lib:core:2.1'\n    api 'no:such:1'\n}",
    );
    place.classes(&[
        ("app/core/build/classes/java/main/a/A.class", "a/A"),
        ("app/core/build/classes/kotlin/main/a/KKt.class", "a/KKt"),
        ("app/core/build/classes/java/test/a/T.class", "a/T"),
    ]);
    place.write("app/core/src/main/kotlin/K.kt", "package a");
    age(&place, "app/core/build/classes/java/main/a/A.class", 1);
    place.write("app/plain/src/main/java/b/B.java", "package b; class B {}");
    let jar = "home/.gradle/caches/modules-2/files-2.1/org.lib/core/2.1/0a1b2c/core-2.1.jar";
    place.jar(jar, &[("core/C.class", &class("core/C"))]);
    let project = opened(&place);
    assert_eq!(app(&project), ["a/A", "a/KKt", "b/B"]);
    assert_eq!(layer(&project, "core/C"), Some(Layer::Library));
    assert_eq!(notes(&project), [("missing-dependency".to_string(), 1)]);
    assert!(project.source_file("a/K.kt").is_some());
}

#[test]
fn other_languages_must_have_been_built() {
    let place = place();
    place.write("app/build.gradle.kts", "");
    place.write("app/src/main/kotlin/K.kt", "package a");
    let text = message(open(&place));
    assert!(text.contains("nothing to analyse") && text.contains("build the project first"), "{text}");
    place.classes(&[("app/build/classes/kotlin/main/a/KKt.class", "a/KKt")]);
    age(&place, "app/build/classes/kotlin/main/a/KKt.class", -1);
    assert_eq!(notes(&opened(&place)), [("stale-classes".to_string(), 1)]);
}

#[test]
fn a_broken_pom_and_poms_in_circles_do_no_harm() {
    let place = place();
    place.write("app/pom.xml", "<project><modules>");
    place.write("app/src/main/java/A.java", "class A {}");
    let project = opened(&place);
    assert_eq!(app(&project), ["A"]);
    assert_eq!(notes(&project), [("bad-build-file".to_string(), 1)]);

    let circle = "<parent><groupId>g</groupId><artifactId>app</artifactId><version>1</version>\
                  <relativePath>pom.xml</relativePath></parent>\
                  <modules><module>.</module><module>m/..</module></modules>\
                  <properties><a>${b}</a><b>${a}</b></properties>\
                  <dependencies><dependency><groupId>../../etc</groupId><artifactId>${a}</artifactId>\
                  <version>${a}</version></dependency></dependencies>";
    place.write("app/pom.xml", pom("app", circle));
    assert_eq!(app(&opened(&place)), ["A"]);
}

#[test]
fn a_project_with_another_layout_is_read_as_a_plain_directory() {
    let place = place();
    place.write("app/build.gradle", "sourceSets { main { java { srcDirs = ['source'] } } }");
    place.write("app/source/a/A.java", "package a; class A {}");
    assert_eq!(app(&opened(&place)), ["a/A"]);
}

#[test]
fn classes_named_directly_are_shown_with_the_sources_of_their_project() {
    let place = place();
    place.write("app/pom.xml", pom("app", ""));
    place.write("app/src/main/java/a/A.java", "package a; class A {}");
    place.classes(&[("app/target/classes/a/A.class", "a/A")]);
    let jar = place.jar("app/target/app.jar", &[("a/A.class", &class("a/A"))]);
    for path in [place.path("app/target/classes"), jar] {
        let project = project::open(&Request { paths: vec![path], ..Request::default() }).unwrap();
        assert!(project.source_file("a/A.java").is_some());
    }
}

#[test]
fn sources_beside_classes_are_found_and_a_jar_alone_searches_nothing() {
    let place = place();
    place.write("src/a/A.java", "package a; class A {}");
    place.classes(&[("out/a/A.class", "a/A")]);
    let project = project::open(&Request { paths: vec![place.path("out")], ..Request::default() }).unwrap();
    assert!(project.source_file("a/A.java").is_some());
    place.write("elsewhere/deep/a/B.java", "package a; class B {}");
    let jar = place.jar("elsewhere/b.jar", &[("a/B.class", &class("a/B"))]);
    let project = project::open(&Request { paths: vec![jar], ..Request::default() }).unwrap();
    assert!(project.source_file("a/B.java").is_none());
}
