//! Dependencies named in Gradle build files. A build file is a program that is not run here: only what stands
//! in it as text is seen, which covers the usual notations.

use crate::pom::{Coordinates, Dependency};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub const BUILD_FILES: [&str; 2] = ["build.gradle", "build.gradle.kts"];
pub const SETTINGS_FILES: [&str; 2] = ["settings.gradle", "settings.gradle.kts"];

/// Configurations that end up on the class path of the program.
const CONFIGURATIONS: [&str; 7] =
    ["implementation", "api", "compile", "compileOnly", "runtime", "runtimeOnly", "compileOnlyApi"];

/// The dependencies of the module in `directory`, with the version catalog of the project in `root`.
pub fn dependencies(directory: &Path, root: &Path) -> Vec<Dependency> {
    let text: String =
        BUILD_FILES.iter().filter_map(|name| fs::read_to_string(directory.join(name)).ok()).collect();
    let catalog = fs::read_to_string(root.join("gradle/libs.versions.toml")).unwrap_or_default();
    let catalog = read_catalog(&catalog);
    let statements = statements(&text);
    let found = statements.iter().filter(|line| declares(line)).flat_map(|line| in_line(line, &catalog));
    found.map(|coordinates| Dependency { coordinates, ..Dependency::default() }).collect()
}

/// The modules of the same project that the module needs, by the last part of their names: `:libs:core` is `core`. See
/// [`is_called`].
pub fn projects(directory: &Path) -> Vec<String> {
    let texts = BUILD_FILES.iter().filter_map(|name| fs::read_to_string(directory.join(name)).ok());
    texts.flat_map(|text| named_projects(&text)).collect()
}

/// Whether a directory is that of a module of this name: `projects.myCore` is `my-core`.
pub fn is_called(directory: &str, name: &str) -> bool {
    let plain = |text: &str| text.replace(['-', '_', '.'], "").to_lowercase();
    directory == name || plain(directory) == plain(name)
}

/// `implementation project(':core')`, also with `path:`, in Kotlin, or `implementation projects.core`.
fn named_projects(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for statement in statements(text).into_iter().filter(|one| declares(one) && one.contains("project")) {
        let quoted = statement.split(['\'', '"']).skip(1).step_by(2);
        names
            .extend(quoted.filter_map(|text| text.strip_prefix(':')?.rsplit(':').next()).map(str::to_string));
        let accessors = statement.split("projects.").skip(1);
        names.extend(accessors.filter_map(|rest| {
            let path = rest.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').next()?;
            path.rsplit('.').next().filter(|name| !name.is_empty()).map(str::to_string)
        }));
    }
    names
}

/// The pieces of a build file between line ends, braces and semicolons that do not stand in texts.
fn statements(text: &str) -> Vec<&str> {
    let mut quote = None;
    let pieces = text.split(|c: char| match (quote, c) {
        (Some(open), _) => {
            // No text goes over a line that anybody writes dependencies in.
            quote = quote.filter(|_| c != open && c != '\n');
            c == '\n'
        }
        (None, '\'' | '"') => {
            quote = Some(c);
            false
        }
        (None, _) => matches!(c, '\n' | '{' | '}' | ';'),
    });
    pieces.map(str::trim).filter(|piece| !piece.is_empty()).collect()
}

fn declares(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    CONFIGURATIONS.contains(&word) && !line.contains("platform(")
}

/// `'group:artifact:version'`, `group: 'g', name: 'a', version: 'v'`, or `libs.some.name`.
fn in_line(line: &str, catalog: &BTreeMap<String, Coordinates>) -> Vec<Coordinates> {
    let quoted: Vec<&str> = line.split(['\'', '"']).skip(1).step_by(2).collect();
    let mut found: Vec<_> = quoted.iter().filter_map(|text| notation(text)).collect();
    if let (Some(_), [group, artifact, rest @ ..]) = (line.find("group"), quoted.as_slice())
        && line.contains("name")
    {
        found.push(coordinates(group, artifact, rest.first().copied().unwrap_or_default()));
    }
    for start in line.match_indices("libs.").map(|(at, _)| at + "libs.".len()) {
        let end = line[start..].find(|c: char| !c.is_alphanumeric() && c != '.' && c != '_');
        let name = &line[start..end.map_or(line.len(), |end| start + end)];
        found.extend(catalog.get(name).cloned());
    }
    found
}

fn notation(text: &str) -> Option<Coordinates> {
    let mut parts = text.split(':');
    let (group, artifact) = (parts.next()?, parts.next()?);
    // `:core` names another module of the project.
    (!group.is_empty() && !artifact.is_empty())
        .then(|| coordinates(group, artifact, parts.next().unwrap_or_default()))
}

/// A version that is an expression is not known.
fn coordinates(group: &str, artifact: &str, version: &str) -> Coordinates {
    let version = version.split('@').next().filter(|version| !version.contains('$')).unwrap_or_default();
    Coordinates { group: group.to_string(), artifact: artifact.to_string(), version: version.to_string() }
}

/// `[libraries]` of a version catalog, by the name build files use: dashes become dots.
fn read_catalog(text: &str) -> BTreeMap<String, Coordinates> {
    let Ok(table) = text.parse::<toml::Table>() else { return BTreeMap::new() };
    let versions = table.get("versions").and_then(toml::Value::as_table);
    let version_of = |value: Option<&toml::Value>| -> String {
        let name = value.and_then(|value| value.get("ref")).and_then(toml::Value::as_str);
        let named = name.and_then(|name| versions?.get(name));
        named.or(value).and_then(toml::Value::as_str).unwrap_or_default().to_string()
    };
    let libraries = table.get("libraries").and_then(toml::Value::as_table).into_iter().flatten();
    let read = |library: &toml::Value| -> Option<Coordinates> {
        if let Some(text) = library.as_str() {
            return notation(text);
        }
        let part = |name: &str| library.get(name).and_then(toml::Value::as_str);
        let module = match part("module") {
            Some(module) => notation(module)?,
            None => coordinates(part("group")?, part("name")?, ""),
        };
        Some(Coordinates { version: version_of(library.get("version")), ..module })
    };
    libraries.filter_map(|(name, library)| Some((name.replace(['-', '_'], "."), read(library)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::{declares, in_line, is_called, named_projects, read_catalog, statements};

    #[test]
    fn the_usual_notations_are_read() {
        let catalog = read_catalog(
            "[versions]\nguava = '33.0'\n[libraries]\n\
             guava-core = { module = 'com.google.guava:guava', version.ref = 'guava' }\n\
             short = 'a.b:c:1'\nlong = { group = 'g', name = 'n', version = '2' }\n",
        );
        for (line, expected) in [
            ("implementation 'a.b:c:1.0'", "a.b:c:1.0"),
            ("api(\"a.b:c:1.0@jar\")", "a.b:c:1.0"),
            ("compile group: 'a.b', name: 'c', version: '1.0'", "a.b:c:1.0"),
            ("implementation \"a.b:c:$version\"", "a.b:c:"),
            ("runtimeOnly 'a.b:c'", "a.b:c:"),
            ("implementation libs.guava.core", "com.google.guava:guava:33.0"),
            ("implementation(libs.short)", "a.b:c:1"),
            ("api libs.long", "g:n:2"),
            ("implementation project(':core')", ""),
            ("testImplementation 'junit:junit:4'", ""),
            ("dependencies { implementation \"a.b:c:1.0\" }", "a.b:c:1.0"),
            ("implementation platform('a:bom:1')", ""),
        ] {
            let declaring = statements(line).into_iter().filter(|one| declares(one));
            let found: Vec<_> = declaring.flat_map(|one| in_line(one, &catalog)).collect();
            let found: Vec<_> =
                found.iter().map(|c| format!("{}:{}:{}", c.group, c.artifact, c.version)).collect();
            assert_eq!(found.join(" "), expected, "{line}");
        }
    }

    #[test]
    fn modules_that_need_each_other_are_known_by_name() {
        for (line, expected) in [
            ("    implementation project(':core')", "core"),
            ("api(project(\":libs:core\"))", "core"),
            ("compile project(path: ':core', configuration: 'x')", "core"),
            ("testImplementation project(':core')", ""),
            ("implementation 'a:b:1'", ""),
            ("dependencies { implementation project(':lib') }", "lib"),
            ("dependencies { implementation(project(':a')); api project(':b') }", "a b"),
            ("implementation projects.lib", "lib"),
            ("implementation(projects.libs.myCore) { transitive = false }", "myCore"),
            ("dependencies { testImplementation project(':lib') }", ""),
            ("implementation \"a:b:${project.version}\"", ""),
        ] {
            assert_eq!(named_projects(line).join(" "), expected, "{line}");
        }
    }
    #[test]
    fn accessors_name_directories_in_their_own_way() {
        assert!(
            is_called("core", "core") && is_called("my-core", "myCore") && is_called("my_core", "myCore")
        );
        assert!(!is_called("core", "cores"));
    }
}
