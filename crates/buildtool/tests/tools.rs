//! The real tools, on projects that nothing but they can read.

use buildtool::Tool;
use fixture::jars;
use project::Environment;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// As users name directories.
const PROJECT: &str = "Mein Projekt ä";

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    /// The project is called `all` here, for short.
    fn path(&self, name: &str) -> PathBuf {
        let name = if name.starts_with("all") { name.replacen("all", PROJECT, 1) } else { name.to_owned() };
        self.0.path().canonicalize().expect("a directory").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, text).expect("a file");
    }

    /// Everything in a directory, each file with its text.
    fn files(&self, name: &str) -> Vec<(PathBuf, Option<String>)> {
        let mut found = Vec::new();
        let mut directories = vec![self.path(name)];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).expect("a directory").flatten() {
                if entry.path().is_dir() {
                    directories.push(entry.path());
                }
                found.push((entry.path(), fs::read_to_string(entry.path()).ok()));
            }
        }
        found.sort();
        found
    }

    fn ask(&self) -> Result<String, String> {
        let root = self.path("all");
        let tool = Tool::of(&root, &Environment::current()).expect("a build tool is on the path: see ./dev");
        let before = self.files("all");
        let answer = tool.ask(&root, jars(), None, &AtomicBool::new(false));
        assert_eq!(self.files("all"), before, "nothing is written into the project");
        // Shorter to read, and the same on every machine.
        let short =
            |text: String| text.replace(&*self.path("").to_string_lossy(), "").replace(PROJECT, "all");
        answer.map(short).map_err(|failure| short(failure.to_string()))
    }
}

fn maven_place() -> Place {
    let place = Place::new();
    let repository = place.path("repository");
    let pom = |name: &str, version: &str, more: &str| {
        format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>{name}</artifactId>\
             <version>{version}</version>{more}</project>"
        )
    };
    let needs = |name: &str, version: &str, more: &str| {
        format!(
            "<dependency><groupId>g</groupId><artifactId>{name}</artifactId><version>{version}</version>{more}\
             </dependency>"
        )
    };
    let all = |needed: &[String]| format!("<dependencies>{}</dependencies>", needed.concat());
    for (name, needed) in
        [("near", all(&[needs("far", "3", "")])), ("far", String::new()), ("junit", String::new())]
    {
        place.write(&format!("repository/g/{name}/3/{name}-3.pom"), &pom(name, "3", &needed));
        place.write(&format!("repository/g/{name}/3/{name}-3.jar"), "PK");
    }
    place.write("repository/g/lost/3/lost-3.pom", &pom("lost", "3", ""));
    // A jar that only this Maven knows where to find, in a version that only its arguments tell.
    place.write("all/.mvn/maven.config", &format!("-Dmaven.repo.local={}\n-Dnear=3\n", repository.display()));
    let level = "<packaging>pom</packaging><modules><module>core</module><module>app</module></modules>\
                 <properties><maven.compiler.release>11</maven.compiler.release></properties>";
    place.write("all/pom.xml", &pom("all", "1", level));
    let parent = "<parent><groupId>g</groupId><artifactId>all</artifactId><version>1</version></parent>";
    let near = all(&[needs("near", "${near}", "")]);
    place.write("all/core/pom.xml", &pom("core", "1", &format!("{parent}{near}")));
    let test = needs("junit", "3", "<scope>test</scope>");
    let needed = all(&[needs("core", "1", ""), test, needs("lost", "3", "")]);
    let source = "<build><sourceDirectory>code</sourceDirectory></build>";
    place.write("all/app/pom.xml", &pom("app", "1", &format!("{parent}{needed}{source}")));
    place
}

#[test]
fn maven_tells_what_each_module_is_compiled_with() {
    let expected = "\
module all
level 11
source all/src/main/java
output all/target/classes
module all/core
level 11
source all/core/src/main/java
output all/core/target/classes
jar repository/g/near/3/near-3.jar
jar repository/g/far/3/far-3.jar
module all/app
level 11
source all/app/code
output all/app/target/classes
needs all/core
jar repository/g/near/3/near-3.jar
jar repository/g/far/3/far-3.jar
missing g:lost:3
end
";
    assert_eq!(maven_place().ask().as_deref(), Ok(expected));
}

#[test]
fn a_module_of_which_maven_cannot_know_enough_is_left_out() {
    let place = maven_place();
    fs::remove_file(place.path("repository/g/near/3/near-3.pom")).expect("removed");
    fs::remove_file(place.path("repository/g/near/3/near-3.jar")).expect("removed");
    let answer = place.ask().expect("an answer");
    assert!(answer.contains("module all\n") && answer.ends_with("end\n"), "{answer}");
    assert!(!answer.contains("near-3.jar"), "{answer}");
}

#[test]
fn what_maven_complains_about_is_told() {
    let place = maven_place();
    place.write("all/core/pom.xml", "<project>");
    let failure = place.ask().expect_err("no answer");
    assert!(failure.starts_with("Maven cannot tell the class paths: "), "{failure}");
    assert!(failure.contains("Non-parseable POM") || failure.contains("problems"), "{failure}");
}

fn gradle_place() -> Place {
    let place = Place::new();
    place.write("jars/near-3.jar", "PK");
    place.write("all/settings.gradle", "include 'app', 'core', 'docs'\n");
    place.write("all/gradle.properties", "near=3\n");
    let build = format!(
        "configure([project(':app'), project(':core')]) {{\n\
         apply plugin: 'java'\nsourceCompatibility = 11\nrepositories {{ flatDir {{ dirs '{}' }} }}\n}}\n",
        place.path("jars").display()
    );
    place.write("all/build.gradle", &build);
    place.write("all/core/build.gradle", "dependencies { compile \"g:near:$near\" }\n");
    let sources = "sourceSets { main { java { srcDirs = ['code'] } } }\n";
    let needed = "dependencies { compile project(':core'), 'g:lost:3'; testCompile 'g:junit:3' }\n";
    place.write("all/app/build.gradle", &format!("{sources}{needed}"));
    place
}

#[test]
fn gradle_tells_what_each_project_is_compiled_with() {
    let app = "module all/app
level 11
source all/app/code
output all/app/build/classes/java/main
missing g:lost:3
needs all/core
jar jars/near-3.jar
";
    let core = "module all/core
level 11
source all/core/src/main/java
output all/core/build/classes/java/main
jar jars/near-3.jar
";
    assert_eq!(gradle_place().ask().as_deref(), Ok(&*format!("{app}{core}end\n")));
}

#[test]
fn what_gradle_complains_about_is_told() {
    let place = gradle_place();
    place.write("all/app/build.gradle", "throw new RuntimeException('out of order')\n");
    let failure = place.ask().expect_err("no answer");
    assert!(failure.contains("build.gradle") && failure.starts_with("Gradle cannot tell"), "{failure}");
}

#[test]
fn a_tool_that_nobody_waits_for_is_ended() {
    let place = maven_place();
    let root = place.path("all");
    let tool = Tool::of(&root, &Environment::current()).expect("a build tool is on the path: see ./dev");
    let failure = tool.ask(&root, jars(), None, &AtomicBool::new(true)).expect_err("no answer");
    assert!(failure.to_string().ends_with("was given up"), "{failure}");
}
