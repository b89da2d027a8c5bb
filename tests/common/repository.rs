//! Finds files of the repository, from the tests of any of its packages.

use std::path::Path;

/// Returns the folder of the repository.
pub(crate) fn repository() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("sample_sessions").is_dir()).expect("a package of it")
}
