//! Functions that matter, by their full names. One row stands for a function in every language
//! that has it under this name.

/// Start a command: text for a shell, or the words of a program.
pub(super) const SPAWNS: &[&str] = &[
    "os.system",
    "os.popen",
    "os.posix_spawn",
    "os.posix_spawnp",
    "subprocess.run",
    "subprocess.call",
    "subprocess.Popen",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "commands.getoutput",
    "check_output",
    "check_call",
    "Popen",
    "getoutput",
    "pty.spawn",
    "PTY.spawn",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "child_process.exec",
    "child_process.spawn",
    "child_process.execFile",
    "execSync",
    "spawnSync",
    "execFileSync",
    "execFile",
    "execa",
    "execaSync",
    "execaCommand",
    "execaCommandSync",
    "execa.command",
    "shelljs.exec",
    "shell.exec",
    "Bun.spawn",
    "Bun.spawnSync",
    "Deno.run",
    "shell_exec",
    "passthru",
    "proc_open",
    "popen",
    "pcntl_exec",
    "IO.popen",
    "Open3.capture2",
    "Open3.capture2e",
    "Open3.capture3",
    "Open3.popen2",
    "Open3.popen2e",
    "Open3.popen3",
    "Open3.pipeline",
    "Kernel.system",
    "Kernel.exec",
    "Kernel.spawn",
    "Process.spawn",
    "Process.exec",
    "os.execute",
    "io.popen",
    "System.cmd",
    "System.shell",
    "os.cmd",
    "Runtime.exec",
    "system2",
    "vim.fn.system",
    "shell-command",
    "shell-command-to-string",
    "call-process",
    "uiop:run-program",
    "sb-ext:run-program",
    "IPC.Run.run",
    "Process.Start",
    "ShellExecute",
];

/// The same by names that mean other things where they belong to something.
pub(super) const BARE_SPAWNS: &[&str] = &["system", "exec", "spawn", "readpipe", "shell"];

/// Programs that are put together word by word.
pub(super) const COMMANDS: &[&str] =
    &["exec.Command", "Command.new", "process.Command.new", "Deno.Command", "ProcessBuilder"];

/// Delete a directory with what is in it.
pub(super) const DELETES_TREE: &[&str] = &[
    "rmtree",
    "rmtree!",
    "remove_tree",
    "removedirs",
    "rm_rf",
    "rm_rf!",
    "rm_r",
    "rm_r!",
    "FileUtils.remove_dir",
    "FileUtils.rmtree",
    "remove_entry",
    "remove_entry_secure",
    "fs.rm",
    "fs.promises.rm",
    "promises.rm",
    "fsPromises.rm",
    "rmSync",
    "rmdirSync",
    "fs.rmdir",
    "rimraf",
    "rimraf.sync",
    "rimrafSync",
    "removeSync",
    "fs.remove",
    "emptyDirSync",
    "fs.emptyDir",
    "del.sync",
    "deleteSync",
    "send2trash",
    "Deno.remove",
    "Deno.removeSync",
    "FileUtils.deleteDirectory",
    "FileUtils.cleanDirectory",
    "os.RemoveAll",
    "remove_dir_all",
    "deleteRecursively",
    "delete-directory",
    "uiop:delete-directory-tree",
    "Directory.Delete",
    "DeleteDirectory",
    "fs::dir_delete",
    "dir_delete",
];

/// Delete a file, or an empty directory.
pub(super) const DELETES_FILE: &[&str] = &[
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "unlinkSync",
    "fs.unlink",
    "fs.promises.unlink",
    "promises.unlink",
    "fsPromises.unlink",
    "File.delete",
    "File.unlink",
    "File.rm",
    "File.rm!",
    "FileUtils.rm",
    "FileUtils.rm_f",
    "FileUtils.safe_unlink",
    "Dir.rmdir",
    "Dir.delete",
    "Dir.unlink",
    "File.Delete",
    "DeleteFile",
    "Files.delete",
    "Files.deleteIfExists",
    "file.remove",
    "os.Remove",
    "fs.remove_file",
    "remove_file",
    "delete-file",
];

/// Methods that delete the file or directory they are called on.
pub(super) const DELETES_ITSELF: &[(&str, bool)] = &[
    ("unlink", false),
    ("rmdir", false),
    ("delete", false),
    ("remove", false),
    ("Delete", false),
    ("deleteIfExists", false),
    ("rmtree", true),
    ("remove_tree", true),
    ("deleteDir", true),
    ("deleteRecursively", true),
];

/// Name the files below a directory.
pub(super) const LISTS: &[&str] = &[
    "os.listdir",
    "os.scandir",
    "os.walk",
    "readdirSync",
    "fs.readdir",
    "fs.promises.readdir",
    "promises.readdir",
    "Dir.entries",
    "Dir.children",
    "Dir.each_child",
    "scandir",
    "readdir",
    "opendir",
    "RecursiveDirectoryIterator",
    "DirectoryIterator",
    "FilesystemIterator",
    "list.files",
    "File.ls",
    "File.ls!",
    "Directory.GetFiles",
    "Directory.EnumerateFiles",
];

/// Name the files that a pattern matches.
pub(super) const GLOBS: &[&str] = &[
    "glob",
    "glob.glob",
    "glob.iglob",
    "iglob",
    "bsd_glob",
    "Dir.glob",
    "Dir",
    "globSync",
    "fs.globSync",
    "fs.glob",
    "fg.sync",
    "Path.wildcard",
    "filepath.Glob",
    "Sys.glob",
];

/// Make a path of text.
pub(super) const PATHS: &[&str] = &[
    "Path",
    "PurePath",
    "PosixPath",
    "pathlib.Path",
    "Pathname",
    "Pathname.new",
    "File",
    "java.io.File",
    "Paths.get",
    "Path.of",
    "IO.FileInfo",
    "IO.DirectoryInfo",
];

/// Put parts of a path together.
pub(super) const JOINS: &[&str] = &[
    "os.path.join",
    "path.join",
    "path.resolve",
    "File.join",
    "Path.join",
    "filepath.Join",
    "file.path",
    "Path.Combine",
    "catfile",
    "File.Spec.catfile",
];

/// Give back their first argument, for what matters here.
pub(super) const SAME: &[&str] = &[
    "os.path.expanduser",
    "expanduser",
    "os.path.expandvars",
    "os.path.abspath",
    "os.path.realpath",
    "os.path.normpath",
    "os.fspath",
    "realpath",
    "File.expand_path",
    "Path.expand",
    "path.normalize",
    "shlex.quote",
    "escapeshellarg",
    "escapeshellcmd",
    "Shellwords.escape",
    "str",
    "String",
    "bytes",
    "list",
    "tuple",
    "sorted",
    "iter",
    "set",
    "reversed",
    "Array.from",
    "iterator_to_array",
    "RecursiveIteratorIterator",
    "sort",
    "reverse",
    "Promise.resolve",
    "asyncio.run",
];

/// The home directory.
pub(super) const HOMES: &[&str] =
    &["Path.home", "pathlib.Path.home", "os.homedir", "homedir", "Dir.home", "System.user_home!"];

/// Variables of the environment.
pub(super) const ENVIRONMENT: &[&str] = &[
    "os.environ.get",
    "os.getenv",
    "getenv",
    "ENV.fetch",
    "Deno.env.get",
    "System.getenv",
    "System.get_env",
    "Sys.getenv",
    "os.Getenv",
];

/// Directories and files just made for temporary use.
pub(super) const TEMPORARY: &[&str] = &[
    "mkdtemp",
    "mkdtempSync",
    "mktmpdir",
    "mkstemp",
    "mktemp",
    "TemporaryDirectory",
    "NamedTemporaryFile",
    "tempnam",
    "tempfile",
    "tempdir",
    "Tempfile.new",
    "Tempfile.create",
    "fs.mkdtemp",
];

/// The directory for temporary files.
pub(super) const TEMPORARY_DIRECTORY: &[&str] =
    &["os.tmpdir", "tmpdir", "Dir.tmpdir", "tempfile.gettempdir", "gettempdir", "sys_get_temp_dir"];

/// Read a file.
pub(super) const READS: &[&str] = &[
    "readFileSync",
    "fs.readFile",
    "fs.promises.readFile",
    "promises.readFile",
    "readFile",
    "createReadStream",
    "File.read",
    "IO.read",
    "File.readlines",
    "IO.readlines",
    "file_get_contents",
    "readfile",
    "Deno.readTextFile",
    "Deno.readTextFileSync",
    "Bun.file",
    "File.ReadAllText",
    "os.ReadFile",
];

/// Write a file anew.
pub(super) const WRITES: &[&str] = &[
    "writeFileSync",
    "fs.writeFile",
    "fs.promises.writeFile",
    "promises.writeFile",
    "writeFile",
    "createWriteStream",
    "outputFileSync",
    "Deno.writeTextFile",
    "Deno.writeTextFileSync",
    "Bun.write",
    "File.write",
    "File.write!",
    "IO.write",
    "file_put_contents",
    "File.WriteAllText",
    "File.WriteAllBytes",
    "os.WriteFile",
];

/// Functions that do what a program does with the same operands in the same order.
pub(super) const PROGRAMS: &[(&[&str], &[&str])] = &[
    (
        &["mv"],
        &[
            "shutil.move",
            "os.rename",
            "os.replace",
            "os.renames",
            "renameSync",
            "fs.rename",
            "fs.promises.rename",
            "promises.rename",
            "moveSync",
            "fs.move",
            "FileUtils.mv",
            "FileUtils.move",
            "File.rename",
            "File.Move",
            "Directory.Move",
            "os.Rename",
            "rename",
        ],
    ),
    (
        &["cp", "-r"],
        &[
            "shutil.copy",
            "shutil.copy2",
            "shutil.copyfile",
            "shutil.copytree",
            "copyFileSync",
            "fs.copyFile",
            "cpSync",
            "fs.cp",
            "fs.copy",
            "copySync",
            "FileUtils.cp",
            "FileUtils.cp_r",
            "FileUtils.copy",
            "File.Copy",
        ],
    ),
    (&["ln", "-s"], &["os.symlink", "symlinkSync", "fs.symlink", "File.symlink", "FileUtils.ln_s"]),
    (
        &["truncate", "-s", "0"],
        &["os.truncate", "truncateSync", "fs.truncate", "File.truncate", "truncate"],
    ),
    (&["cd"], &["os.chdir", "process.chdir", "Dir.chdir", "FileUtils.cd", "chdir"]),
    (&["rm"], &["shell.rm", "shelljs.rm", "sh.rm"]),
];

/// Send a request that deletes.
pub(super) const HTTP_DELETES: &[&str] = &[
    "requests.delete",
    "httpx.delete",
    "axios.delete",
    "got.delete",
    "ky.delete",
    "superagent.delete",
    "HTTParty.delete",
    "RestClient.delete",
    "Faraday.delete",
];

/// Send a request whose method is an argument.
pub(super) const HTTP: &[&str] = &[
    "fetch",
    "axios",
    "axios.request",
    "requests.request",
    "httpx.request",
    "got",
    "ky",
    "$.ajax",
    "urllib.request.Request",
];

/// Run text as code of the same language.
pub(super) const CODE: &[&str] = &[
    "eval",
    "compile",
    "Function",
    "vm.runInThisContext",
    "vm.runInNewContext",
    "instance_eval",
    "class_eval",
    "module_eval",
    "assert",
    "create_function",
    "loadstring",
    "load",
];

/// Start a copy of the program.
pub(super) const FORKS: &[&str] = &[
    "os.fork",
    "os.forkpty",
    "fork",
    "pcntl_fork",
    "Process.fork",
    "Kernel.fork",
    "child_process.fork",
    "cluster.fork",
    "multiprocessing.Process",
];

/// Methods that send a statement to a database.
pub(super) const STATEMENTS: &[&str] = &[
    "execute",
    "executescript",
    "executemany",
    "query",
    "exec",
    "run",
    "raw",
    "exec_query",
    "execute_sql",
    "text",
    "$executeRawUnsafe",
    "$queryRawUnsafe",
];

/// Methods that drop what a database holds.
pub(super) const DROPS: &[&str] = &[
    "dropDatabase",
    "drop_database",
    "dropCollection",
    "drop_collection",
    "drop_all",
    "drop_table",
    "dropTable",
    "dropAllTables",
    "dropSchema",
    "flushall",
    "flushdb",
    "flushAll",
    "flushDb",
    "delete_all",
    "destroy_all",
];
