//! Disks, partitions, volumes and file systems.
//!
//! ```denied
//! dd if=/dev/zero of=/dev/sda
//! mkfs.ext4 /dev/sda1
//! mkfs -t ext4 /dev/sdb
//! mkfs.vfat -n LABEL /dev/sda1
//! wipefs -a /dev/sda
//! fdisk /dev/sda
//! parted /dev/sda mklabel gpt
//! sgdisk -Z /dev/sda
//! blkdiscard /dev/sda
//! cryptsetup luksFormat /dev/sda1
//! lvremove vg/lv
//! zpool destroy tank
//! zfs destroy -r tank/x
//! mkswap /dev/sda2
//! diskutil eraseDisk APFS X disk2
//! ```
//! ```asked
//! dd if=x of="$DEV"
//! mkfs.ext4 disk.img
//! fsck -y /dev/sda1
//! ```
//! ```allowed
//! dd if=/dev/sda of=img
//! dd if=/dev/zero of=/tmp/x bs=1M count=1
//! mkfs.ext4 -n /dev/sda1
//! fdisk -l
//! parted -l
//! lvremove --test vg/lv
//! wipefs -n /dev/sda
//! lsblk
//! zfs list
//! zfs destroy -n tank/x
//! dd if=/dev/urandom of=/dev/null
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::run::CommandRun;
use Reversibility::{R3, R4, R5};

fn destroys(run: &mut CommandRun<'_, '_>, why: &'static str) {
    let device = run.args.iter().find(|arg| arg.text.contains("/dev/"));
    let target = device.map_or_else(|| run.line(), |arg| arg.text.clone());
    // An image file is not a device, and can be regenerated.
    let operand = run.args.iter().rev().find(|arg| !arg.text.starts_with('-'));
    let image = operand.is_some_and(|arg| {
        device.is_none()
            && !arg.dynamic
            && matches!(
                run.analyzer.place(&arg.text).scope,
                EffectScope::Temp | EffectScope::TreeUntracked | EffectScope::TreeArtefact
            )
            && arg.text.contains('.')
    });
    if image {
        run.effect(EffectKind::Overwrite, &target, EffectScope::TreeUntracked, R3, why);
    } else {
        run.effect(EffectKind::Overwrite, &target, EffectScope::Device, R5, why);
    }
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    let has = |names: &[&str]| args.iter().any(|arg| names.contains(&arg.text.as_str()));
    let words = super::plain_words(args);
    let first = words.first().copied().unwrap_or("");
    if has(&["--help", "--version", "-V", "-h"]) && run.name != "swapoff" {
        return;
    }
    match run.name {
        "dd" => dd(run),
        name if name == "mkfs"
            || name.starts_with("mkfs.")
            || name.starts_with("newfs")
            || matches!(name, "mke2fs" | "mkswap") =>
        {
            // `-n` is a dry run for ext file systems and names a label for others.
            let ext = name == "mke2fs" || name.starts_with("mkfs.ext") || name == "mkfs";
            if words.is_empty() || (ext && has(&["-n"])) || has(&["-N"]) && name == "mkfs.xfs" {
                return;
            }
            // A disk image in a temporary directory is not a disk in use.
            let is_image = |word: &&str| run.analyzer.place(word).scope == EffectScope::Temp;
            if !words.iter().any(is_image) {
                destroys(run, "formats a file system");
            }
        }
        "fdisk" | "gdisk" | "cfdisk" | "sfdisk" | "sgdisk" | "diskpart" => {
            let reads = has(&[
                "-l", "--list", "-p", "--print", "-v", "--verify", "-d", "--dump", "-J", "--json",
                "-n", "--no-act", "-s", "-i", "-x",
            ]);
            if !reads && !words.is_empty() || run.name == "diskpart" {
                destroys(run, "changes the partition table");
            }
        }
        "parted" => {
            let reads =
                has(&["-l", "--list", "print"]) && !has(&["mklabel", "rm", "mkpart", "resizepart"]);
            if !reads && !words.is_empty() {
                destroys(run, "changes the partition table");
            }
        }
        "wipefs" => {
            if (has(&["-a", "--all", "-af", "-fa", "-o"])
                || args.iter().any(|arg| arg.text.starts_with("--offset")))
                && !has(&["-n", "--no-act"])
            {
                destroys(run, "wipes signatures");
            }
        }
        "blkdiscard" | "flash_erase" | "badblocks" => {
            if run.name != "badblocks" || has(&["-w", "-wsv", "-ws"]) {
                destroys(run, "discards every block");
            }
        }
        "cryptsetup" => {
            if matches!(
                first,
                "luksFormat"
                    | "erase"
                    | "luksErase"
                    | "luksKillSlot"
                    | "luksRemoveKey"
                    | "reencrypt"
                    | "luksformat"
            ) && !has(&["--test-passphrase"])
            {
                destroys(run, "makes encrypted data unreadable");
            }
        }
        "lvremove" | "vgremove" | "pvremove" | "lvreduce" => {
            if !has(&["--test", "-t"]) {
                destroys(run, "removes a volume");
            }
        }
        "zpool" | "zfs" | "btrfs" | "mdadm" | "nvme" | "dmsetup" => volumes(run, &words),
        "diskutil" => {
            if matches!(
                first.to_ascii_lowercase().as_str(),
                "erasedisk"
                    | "erasevolume"
                    | "partitiondisk"
                    | "zerodisk"
                    | "randomdisk"
                    | "secureerase"
                    | "reformat"
            ) || words.iter().any(|word| word.to_ascii_lowercase().starts_with("delete"))
            {
                destroys(run, "erases a disk");
            }
        }
        "format" => {
            if first.len() == 2 && first.ends_with(':') {
                destroys(run, "formats a drive");
            }
        }
        "hdparm" => {
            if args.iter().any(|arg| {
                arg.text.contains("security-erase")
                    || arg.text.contains("trim-sector")
                    || arg.text.contains("write-sector")
            }) {
                destroys(run, "erases a disk");
            }
        }
        "blockdev" | "tune2fs" | "resize2fs" | "debugfs" => {
            if has(&["--setro", "--setrw", "-w"])
                || run.name == "resize2fs"
                || (run.name == "tune2fs" && !has(&["-l"]))
            {
                run.effect(
                    EffectKind::Overwrite,
                    &run.line(),
                    EffectScope::Device,
                    R3,
                    "changes how a device is used",
                );
            }
        }
        // Copies onto a disk, byte by byte.
        "ddrescue" | "dd_rescue" | "dcfldd" | "ntfsclone" | "partclone" => {
            copies_to_disk(run, &words)
        }
        name if name.starts_with("partclone.") => copies_to_disk(run, &words),
        "asr" => {
            if has(&["--erase", "-erase"]) {
                destroys(run, "erases a disk");
            }
        }
        "sg_format" | "sg_sanitize" => destroys(run, "erases a disk"),
        "mmc" => {
            if matches!(first, "erase" | "writeprotect") {
                destroys(run, "erases a disk");
            }
        }
        "flashrom" | "fwupdmgr" => {
            let writes = has(&["-w", "-E", "--write", "--erase"])
                || matches!(first, "install" | "install-blob" | "downgrade" | "reinstall");
            if writes {
                let (kind, scope) = (EffectKind::Overwrite, EffectScope::Device);
                run.effect(kind, &run.line(), scope, R4, "replaces the firmware");
            }
        }
        "lvconvert" => {
            if has(&["--merge", "--uncache", "--splitcache"]) {
                run.effect(
                    EffectKind::Overwrite,
                    &run.line(),
                    EffectScope::Device,
                    R3,
                    "changes a volume",
                );
            }
        }
        "umount" | "swapoff" | "losetup" | "hdiutil" => {
            let detaches = match run.name {
                "losetup" => has(&["-D", "--detach-all"]),
                "hdiutil" => has(&["-force"]) && matches!(first, "detach" | "eject"),
                _ => has(&["-a", "-f", "-l", "--all", "--force", "--lazy"]),
            };
            if detaches {
                run.effect(
                    EffectKind::StopService,
                    &run.line(),
                    EffectScope::Device,
                    R3,
                    "removes a device",
                );
            }
        }
        "fsck" | "fsck.ext4" | "fsck.ext3" | "fsck.xfs" | "fsck.vfat" | "e2fsck" | "xfs_repair" => {
            if has(&["-y", "-f", "-L", "-a"]) && !has(&["-n"]) {
                run.effect(
                    EffectKind::Overwrite,
                    &run.line(),
                    EffectScope::Device,
                    R3,
                    "repairs without a prompt",
                );
            }
        }
        _ => {}
    }
}

fn volumes(run: &mut CommandRun<'_, '_>, words: &[&str]) {
    let bad = match (run.name, words) {
        ("zpool", ["destroy" | "labelclear" | "remove", ..]) => true,
        ("zfs", ["destroy" | "rollback", ..]) => {
            !run.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('n'))
        }
        ("btrfs", ["subvolume" | "sub", "delete", ..] | ["device", "remove" | "delete", ..]) => {
            true
        }
        ("mdadm", _) => run.args.iter().any(|arg| {
            matches!(
                arg.text.as_str(),
                "--zero-superblock" | "--stop" | "--remove" | "--create" | "-S"
            )
        }),
        ("nvme", ["format" | "sanitize" | "delete-ns", ..]) => true,
        ("dmsetup", ["remove" | "remove_all" | "wipe_table", ..]) => true,
        _ => false,
    };
    if bad {
        destroys(run, "removes a volume with its data");
    }
}

/// Reports a copy to a disk. The target is the last word, unless an option names it.
fn copies_to_disk(run: &mut CommandRun<'_, '_>, words: &[&str]) {
    let is_device = |word: &&str| {
        let word = word.strip_prefix("of=").unwrap_or(word);
        run.analyzer.place(word).scope == EffectScope::Device && !run.analyzer.is_sink(word)
    };
    // The source is the first operand.
    let written = if run.args.iter().any(|arg| arg.text.starts_with("of=")) || words.len() < 2 {
        words
    } else {
        words.get(1..).unwrap_or_default()
    };
    if written.iter().any(is_device) {
        destroys(run, "overwrites a device with raw data");
    }
}

fn dd(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    let input = args.iter().find_map(|arg| arg.text.strip_prefix("if="));
    if let Some(input) = input {
        let call = run.call;
        run.analyzer.read_file(&Arg::plain(input), "dd", call);
    }
    let Some(output) = args.iter().find_map(|arg| {
        arg.text.strip_prefix("of=").map(|text| Arg { text: text.to_owned(), ..arg.clone() })
    }) else {
        return;
    };
    let place = run.analyzer.place(&output.text);
    if output.dynamic {
        run.sure(
            EffectKind::Overwrite,
            &output.text,
            EffectScope::Unknown,
            R4,
            crate::effects::Certainty::Unresolved,
            "writes raw data to a path known only at run time",
        );
    } else if place.scope == EffectScope::Device && !run.analyzer.is_sink(&place.path) {
        run.effect(
            EffectKind::Overwrite,
            &output.text,
            EffectScope::Device,
            R5,
            "overwrites a device with raw data",
        );
    } else {
        let call = run.call;
        let is_nothing = input == Some("/dev/null") || args.iter().any(|arg| arg.text == "count=0");
        let is_lost = crate::run::is_data(&output.text);
        if (is_nothing || is_lost) && !args.iter().any(|arg| arg.text.contains("notrunc")) {
            run.analyzer.empty_file(&output, "dd", call);
        }
        if !run.analyzer.is_sink(&output.text) {
            super::resources::dd(run);
        }
        run.analyzer.write_file(&output, false, "dd", call);
    }
}
