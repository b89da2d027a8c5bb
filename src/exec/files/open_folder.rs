//! Opens a folder in the system's file manager.

use std::path::Path;
use std::process::{Command, Stdio};

/// Command that opens folders.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(target_os = "windows") {
    "explorer"
} else {
    "xdg-open"
};

/// Opens a folder in the system's file manager. Blocks until the command ends; on some systems that is when the window
/// is closed.
///
/// # Errors
/// Returns one line that names the folder if it does not exist or cannot be opened.
pub fn open_folder(folder: &Path) -> Result<(), String> {
    open_with(OPENER, folder)
}

fn open_with(opener: &str, folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    if !folder.is_dir() {
        return Err(format!("{shown} does not exist yet"));
    }
    let mut command = Command::new(opener);
    let quiet = [Stdio::null(), Stdio::null(), Stdio::null()];
    let [input, output, error] = quiet;
    command.arg(folder).stdin(input).stdout(output).stderr(error);
    let cannot =
        |why: String| format!("cannot open {shown} ({opener}: {why}); open it in a file manager");
    match command.status() {
        Err(error) => Err(cannot(error.kind().to_string())),
        // Windows' command always returns 1.
        Ok(status) if !status.success() && !cfg!(target_os = "windows") => {
            Err(cannot(status.to_string()))
        }
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        assert!(open_with("true", &gone).unwrap_err().contains("does not exist"));
        let why = open_with("no-such-program-anywhere", folder.path()).unwrap_err();
        assert!(why.contains(&*folder.path().to_string_lossy()), "{why}");
        assert!(why.contains("open it in a file manager"), "{why}");
        #[cfg(unix)]
        {
            let why = open_with("false", folder.path()).unwrap_err();
            assert!(why.contains("open it in a file manager"), "{why}");
            assert_eq!(open_with("true", folder.path()), Ok(()));
        }
    }
}
