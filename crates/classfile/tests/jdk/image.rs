//! Finds a JDK and hands out the classes of its image. Knows nothing of what is in a class.

use ristretto_jimage::{Image, Resource};
use std::path::{Path, PathBuf};

/// `JAVA_HOME`, or else the JDK of the `java` on the path.
pub fn java_home() -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from).or_else(home_of_java_on_path);
    home.expect("these tests need a JDK: set JAVA_HOME or put java on the path")
}

fn home_of_java_on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let java = std::env::split_paths(&path).find_map(|dir| dir.join("java").canonicalize().ok())?;
    java.ancestors().find(|dir| dir.join("lib/modules").is_file()).map(Path::to_path_buf)
}

/// Calls `use_them` with every class of the JDK's image, in the image's order.
pub fn with_classes<R>(use_them: impl FnOnce(&[Resource<'_>]) -> R) -> R {
    let modules = java_home().join("lib/modules");
    let image = Image::from_file(&modules).unwrap_or_else(|e| panic!("{}: {e}", modules.display()));
    let resources = image.iter().map(|resource| resource.expect("a readable resource"));
    let classes: Vec<_> = resources.filter(|resource| resource.extension() == "class").collect();
    use_them(&classes)
}
