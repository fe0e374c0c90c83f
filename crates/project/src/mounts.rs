//! Whether a directory is on a file system whose changes may be made by other machines, which the operating
//! system does not report. Knows the list of mounts of Linux; elsewhere nothing is remote.

use std::fs;
use std::path::{Path, PathBuf};

const REMOTE: [&str; 12] =
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "prl_fs", "drvfs", "virtiofs"];

pub fn is_remote(path: &Path) -> bool {
    let Ok(mounts) = fs::read_to_string("/proc/self/mounts") else { return false };
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    is_remote_in(&mounts, &real)
}

/// The innermost mount counts, and of several in one place the last.
fn is_remote_in(mounts: &str, path: &Path) -> bool {
    let mut innermost = (0, "");
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(1);
        let (Some(place), Some(kind)) = (fields.next(), fields.next()) else { continue };
        let place = PathBuf::from(place.replace("\\040", " "));
        let depth = place.components().count();
        if path.starts_with(&place) && depth >= innermost.0 {
            innermost = (depth, kind);
        }
    }
    // What a program in user space serves may come from anywhere.
    REMOTE.contains(&innermost.1) || innermost.1.starts_with("fuse.")
}

#[cfg(test)]
mod tests {
    use super::is_remote_in;
    use std::path::Path;

    #[test]
    fn the_innermost_mount_counts() {
        let mounts = "/dev/sda1 / ext4 rw 0 0\nserver:/x /home nfs4 rw 0 0\n\
                      /dev/sdb /home/me/my\\040disk ext4 rw 0 0\nhost /mnt/share fuse.sshfs rw 0 0\n";
        for (path, remote) in [
            ("/tmp/x", false),
            ("/home/you", true),
            ("/home/me/my disk/app", false),
            ("/homely", false),
            ("/mnt/share/app", true),
        ] {
            assert_eq!(is_remote_in(mounts, Path::new(path)), remote, "{path}");
        }
        assert!(!is_remote_in("", Path::new("/")));
    }
}
