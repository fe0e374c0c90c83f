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
    let arguments = format!("-Dmaven.repo.local={}\n-Dnear=3\n-Pmore\n", repository.display());
    place.write("all/.mvn/maven.config", &format!("{arguments}-Dmaven.compiler.release=11\n"));
    let modules = "<packaging>pom</packaging><modules><module>core</module><module>bundle</module></modules>\
                   <profiles><profile><id>more</id><modules><module>app</module></modules></profile></profiles>";
    place.write("all/pom.xml", &pom("all", "1", modules));
    let parent = "<parent><groupId>g</groupId><artifactId>all</artifactId><version>1</version></parent>";
    let near = all(&[needs("near", "${near}", "")]);
    let compiler = "<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId>\
                    <configuration><source>1.8</source><release>8</release></configuration>\
                    </plugin></plugins></build>";
    place.write("all/core/pom.xml", &pom("core", "1", &format!("{parent}{near}{compiler}")));
    let bundled = format!("{parent}<packaging>pom</packaging>{}", all(&[needs("core", "1", "")]));
    place.write("all/bundle/pom.xml", &pom("bundle", "1", &bundled));
    let test = needs("junit", "3", "<scope>test</scope>");
    let bundle = needs("bundle", "1", "<type>pom</type>");
    let of_tests = needs("core", "1", "<classifier>tests</classifier><type>test-jar</type>");
    let needed = all(&[bundle, of_tests, test, needs("lost", "3", "")]);
    let source = "<build><sourceDirectory>code</sourceDirectory></build>";
    place.write("all/app/pom.xml", &pom("app", "1", &format!("{parent}{needed}{source}")));
    place
}

#[test]
fn maven_tells_what_each_module_is_compiled_with() {
    let expected = "\
module all
file all/pom.xml
level 11
source all/src/main/java
output all/target/classes
module all/core
file all/core/pom.xml
file all/pom.xml
level 8
source all/core/src/main/java
output all/core/target/classes
jar repository/g/near/3/near-3.jar
jar repository/g/far/3/far-3.jar
module all/bundle
file all/bundle/pom.xml
file all/pom.xml
level 11
source all/bundle/src/main/java
output all/bundle/target/classes
needs all/core
jar repository/g/near/3/near-3.jar
jar repository/g/far/3/far-3.jar
module all/app
file all/app/pom.xml
file all/pom.xml
level 11
source all/app/code
output all/app/target/classes
jar all/core/target/test-classes
needs all/core
jar repository/g/near/3/near-3.jar
jar repository/g/far/3/far-3.jar
missing g:lost:3
end
";
    assert_eq!(maven_place().ask().as_deref(), Ok(expected));
}

#[test]
fn a_module_of_which_maven_cannot_know_enough_is_unknown() {
    let place = maven_place();
    let arguments = fs::read_to_string(place.path("all/.mvn/maven.config")).expect("there");
    place.write("all/.mvn/maven.config", &arguments.replace("-Dnear=3", "-Dnear=[7,8)"));
    let answer = place.ask().expect("an answer");
    let unknown = ["core", "bundle", "app"].map(|name| format!("module all/{name}\nunknown\n")).concat();
    assert!(answer.ends_with(&format!("{unknown}end\n")), "{answer}");
}

#[test]
fn what_maven_complains_about_is_told() {
    let place = maven_place();
    place.write("all/core/pom.xml", "<project>");
    let failure = place.ask().expect_err("no answer");
    assert!(failure.starts_with("Maven cannot tell the class paths: "), "{failure}");
    assert!(failure.contains("all/core/pom.xml") && !failure.contains("ERROR"), "{failure}");
}

fn gradle_place() -> Place {
    let place = Place::new();
    place.write("jars/near-3.jar", "PK");
    // Names that differ in nothing but what they are, and another build with a root of its own.
    place.write("all/settings.gradle", "include 'app', 'core', 'docs', 'Aa', 'BB'\nincludeBuild '../lib'\n");
    place.write("lib/settings.gradle", "rootProject.name = 'lib'\n");
    place.write("lib/build.gradle", "apply plugin: 'java'\ngroup = 'g'\nversion = '1'\n");
    place.write("all/gradle.properties", "near=3\n");
    let build = format!(
        "configure([':app', ':core', ':Aa', ':BB'].collect {{ project(it) }}) {{\n\
         apply plugin: 'java'\nsourceCompatibility = 11\nrepositories {{ flatDir {{ dirs '{}' }} }}\n}}\n",
        place.path("jars").display()
    );
    place.write("all/build.gradle", &build);
    place.write("all/core/build.gradle", "dependencies { compile \"g:near:$near\" }\n");
    let sources = "sourceSets { main { java { srcDirs = ['code'] } } }\n";
    let needed =
        "dependencies { compile project(':core'), 'g:lost:3', 'g:lib:1'; testCompile 'g:junit:3' }\n";
    place.write("all/app/build.gradle", &format!("{sources}{needed}"));
    place
}

#[test]
fn gradle_tells_what_each_project_is_compiled_with() {
    let plain = ["Aa", "BB"].map(|name| {
        let module = format!("module all/{name}\nlevel 11\nsource all/{name}/src/main/java\n");
        format!("{module}output all/{name}/build/classes/java/main\n")
    });
    let app = "module all/app
level 11
source all/app/code
output all/app/build/classes/java/main
missing g:lost:3
needs all/core
jar lib/build/libs/lib-1.jar
jar jars/near-3.jar
";
    let core = "module all/core
level 11
source all/core/src/main/java
output all/core/build/classes/java/main
jar jars/near-3.jar
";
    assert_eq!(gradle_place().ask().as_deref(), Ok(&*format!("{}{app}{core}end\n", plain.concat())));
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
