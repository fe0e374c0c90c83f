"""What compiler/build, compiler/test and compiler/measure share: where things are, how artifacts of Maven Central
are had and checked, how jars are written so that the same input gives the same bytes."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import tomllib
import zipfile

COMPILER = pathlib.Path(__file__).resolve().parent
OUTPUT = COMPILER.parent / "target" / "compiler"
MAIN = "snarl.compiler.Main"
JAR = "snarl-compiler.jar"
ECJ = "ecj.jar"
MAVEN = COMPILER / "maven"
MAVEN_JAR = "snarl-maven.jar"
ARCHIVE = "snarl-compiler.jsa"
ARGUMENTS = COMPILER / "jvm.args"
# No time in a jar, for the same bytes every time; zip knows none before this one.
NO_TIME = (1980, 1, 1, 0, 0, 0)


def tool(name, java_home=None):
    """The path of java or javac: of the home that is named, of JAVA_HOME, or the first on PATH."""
    home = java_home or os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=os.path.join(home, "bin")) if home else shutil.which(name)
    if not found:
        raise SystemExit(f"needs {name} of a JDK 17 or newer: put it on PATH or set JAVA_HOME")
    return found


def run(*command):
    result = subprocess.run([str(part) for part in command])
    if result.returncode != 0:
        raise SystemExit(result.returncode)


def pinned(file=COMPILER / "ecj.toml"):
    return tomllib.loads(file.read_text())


def artifact(group, name, version, sha256, classifier=""):
    """A jar of Maven Central by its coordinates, from the local repository if it is there and right."""
    file = "-".join(filter(None, [name, version, classifier])) + ".jar"
    local = pathlib.Path.home() / ".m2" / "repository" / group.replace(".", "/") / name / version / file
    if local.is_file() and checksum(local.read_bytes()) == sha256:
        return local.read_bytes()
    data = download(f"{group}:{name}:{version}:jar" + (f":{classifier}" if classifier else ""), file)
    if checksum(data) != sha256:
        raise SystemExit(f"{file} has the checksum {checksum(data)}, and {sha256} is expected")
    return data


def download(coordinates, file):
    if not shutil.which("mvn"):
        raise SystemExit("needs Maven to fetch " + coordinates + ": install the package 'maven'")
    with tempfile.TemporaryDirectory() as directory:
        run("mvn", "-q", "-B", "dependency:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={directory}")
        return (pathlib.Path(directory) / file).read_bytes()


def checksum(data):
    return hashlib.sha256(data).hexdigest()


def write_jar(path, entries):
    """Uncompressed: compressors differ between machines, and classes load faster from it."""
    unfinished = path.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as jar:
        for name, data in sorted(entries.items()):
            info = zipfile.ZipInfo(name, NO_TIME)
            info.external_attr = 0o644 << 16
            jar.writestr(info, data)
    unfinished.replace(path)


def compile_java(sources, class_path, into, java_home=None, release=17):
    """Compiles with all warnings as errors, except that old Java and jars that others would have are no matter."""
    into.mkdir(parents=True, exist_ok=True)
    command = [tool("javac", java_home), "--release", str(release), "-proc:none", "-d", str(into)]
    command += ["-Xlint:all,-options,-classfile", "-Werror"]
    # Otherwise the virtual machine makes a class for every kind of concatenation, at every start.
    command += ["-XDstringConcat=inline"]
    if class_path:
        command += ["-cp", os.pathsep.join(map(str, class_path))]
    run(*command, *sorted(map(str, sources)))


def command(output, java_home=None):
    """How the compiler process is started from a directory that compiler/build has filled."""
    archive = output / ARCHIVE
    return [
        tool("java", java_home),
        f"@{ARGUMENTS}",
        *([f"-XX:SharedArchiveFile={archive}"] if archive.is_file() else []),
        "-cp",
        os.pathsep.join([str(output / JAR), str(output / ECJ)]),
        MAIN,
    ]
