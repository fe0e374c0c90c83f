//! Class sources for tests: the JDK's own image, classes in memory, Java compiled on the spot. Knows nothing of
//! what is tested.
#![allow(dead_code, reason = "each test binary uses its part")]

use classfile::{ClassBytes, ClassSource, Layer};
use ristretto_jimage::Image;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// The classes of the JDK on the path.
pub struct Jdk {
    image: Image,
    /// Full resource name by class name.
    resources: HashMap<String, String>,
}

impl Jdk {
    pub fn open() -> Jdk {
        let image = Image::from_file(&java_home().join("lib/modules")).expect("JDK image");
        let mut resources = HashMap::new();
        for resource in image.iter() {
            let resource = resource.expect("readable image");
            if resource.extension() == "class" && resource.base() != "module-info" {
                let name = resource.name();
                resources.insert(name.trim_end_matches(".class").to_owned(), resource.full_name());
            }
        }
        Jdk { image, resources }
    }

    /// All class names, sorted; only those of modules whose name starts with `module`.
    pub fn class_names(&self, module: &str) -> Vec<String> {
        let prefix = format!("/{module}");
        let in_module = self.resources.iter().filter(|(_, resource)| resource.starts_with(&prefix));
        let mut names: Vec<String> = in_module.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }
}

impl ClassSource for Jdk {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        let resource = self.image.get_resource(self.resources.get(name)?).ok()?;
        Some(ClassBytes::new(resource.data(), Layer::Jdk))
    }

    fn app_classes(&self) -> Vec<String> {
        Vec::new()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

fn java_home() -> PathBuf {
    let output = Command::new("java").args(["-XshowSettings:properties", "-version"]).output().expect("java");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let home = text.lines().find_map(|line| line.trim().strip_prefix("java.home = "));
    PathBuf::from(home.expect("java.home"))
}

/// Classes by name, over an optional further source.
#[derive(Default)]
pub struct Memory {
    pub classes: BTreeMap<String, Vec<u8>>,
    pub below: Option<Arc<dyn ClassSource>>,
}

impl ClassSource for Memory {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        match self.classes.get(name) {
            Some(bytes) => Some(ClassBytes::new(bytes.as_slice(), Layer::App)),
            None => self.below.as_ref()?.find(name),
        }
    }

    fn app_classes(&self) -> Vec<String> {
        self.classes.keys().cloned().collect()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// The classes of `tests/java`, compiled once with all debug information.
pub fn java() -> &'static BTreeMap<String, Vec<u8>> {
    static CLASSES: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    CLASSES.get_or_init(|| compile(&files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java"))))
}

/// The classes of one source file.
pub fn compile_text(text: &str) -> BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().expect("temporary directory");
    let file = directory.path().join("Source.java");
    std::fs::write(&file, text).expect("written");
    compile(&[file])
}

fn compile(files: &[PathBuf]) -> BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().expect("temporary directory");
    let out = directory.path();
    let output = Command::new("javac").arg("-g").arg("-d").arg(out).args(files).output().expect("javac");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut classes = BTreeMap::new();
    for path in files_below(out) {
        let name = path.strip_prefix(out).expect("inside").with_extension("");
        classes.insert(name.to_string_lossy().into_owned(), std::fs::read(&path).expect("class"));
    }
    classes
}

pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let (mut files, mut left) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                std::fs::read_dir(path).expect("directory").map(|entry| entry.expect("entry").path()),
            );
        } else {
            files.push(path);
        }
    }
    files
}
