//! Names that the tools of several agents give to the same argument.

/// Arguments with the path of a file. Of several in one call, the first in this list counts.
pub const PATH_KEYS: [&str; 11] = [
    "file_path",
    "path",
    "filename",
    "file",
    "target_file",
    "notebook_path",
    "relative_path",
    "filePath",
    "absolute_path",
    "AbsolutePath",
    "TargetFile",
];

/// Arguments with a shell command, as a text or a list of words. Of several in one call, the first in this list counts.
pub const COMMAND_KEYS: [&str; 6] =
    ["command", "cmd", "script", "shell_command", "commandLine", "CommandLine"];
