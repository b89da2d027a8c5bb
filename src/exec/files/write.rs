//! Atomic writing: a file is complete or absent, also after a power cut.
//!
//! Bytes go to a temporary file in the same folder and are synced to the disk before the file gets its name in one
//! step. The folder is synced afterwards, since the name is part of the folder and could be lost although the content
//! was written.

use super::path::parent_folder;
use super::unfinished::{self, Unfinished};
use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::Path;
use tempfile::NamedTempFile;

/// Size of the buffer for writing and comparing, in bytes. At 8 KiB, the default, a copy of 100 MB makes 12,000 system
/// calls.
const BUFFER: usize = 1 << 20;

/// Formats a failed write. Only the kind of the error is shown, since its text names our temporary file.
pub(crate) fn write_error(output: &Path, error: &io::Error) -> String {
    format!("cannot write {} ({}); choose another path", output.display(), short_reason(error))
}

/// Formats an error without the paths that its text may name.
pub(crate) fn short_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        kind => kind.to_string(),
    }
}

/// Writes a new file with the permissions that the system's mask allows; fails if the path is taken.
pub(crate) fn write_new(output: &Path, bytes: &[u8]) -> io::Result<()> {
    StagedFile::with_bytes(public_builder(), output, bytes)?.commit(output, Vec::new())
}

/// Writes a new file that only its owner can read; fails if the path is taken.
pub(crate) fn write_new_private(output: &Path, bytes: &[u8]) -> io::Result<()> {
    StagedFile::private(output, bytes)?.commit(output, Vec::new())
}

/// Writes a file or replaces it, with the permissions that the system's mask allows.
pub(crate) fn replace(output: &Path, bytes: &[u8]) -> io::Result<()> {
    StagedFile::with_bytes(public_builder(), output, bytes)?.replace(output)
}

/// Returns a builder of temporary files that others can read if the system's mask allows it.
fn public_builder() -> tempfile::Builder<'static, 'static> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has permissions to set"))]
    let mut builder = unfinished::builder();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Writes or replaces a file of the program's state. Only its owner can read it. Does not wait until it is on the disk.
pub(crate) fn replace_private(output: &Path, bytes: &[u8]) -> io::Result<()> {
    let builder = unfinished::builder();
    let (mut file, unfinished) = unfinished::temporary_file(builder, parent_folder(output))?;
    file.write_all(bytes)?;
    unfinished::finish(vec![unfinished], || Ok(file.persist(output).map(drop)?))
}

/// Replaces a file and keeps its permissions. Only the owner can read a new file.
pub(crate) fn replace_keeping_permissions(output: &Path, bytes: &[u8]) -> io::Result<()> {
    let staged = StagedFile::private(output, bytes)?;
    if let Ok(metadata) = fs::metadata(output) {
        staged.file.as_file().set_permissions(metadata.permissions())?;
    }
    staged.replace(output)
}

/// A file that is written to the disk under a temporary name.
#[derive(Debug)]
pub(crate) struct StagedFile {
    file: NamedTempFile,
    unfinished: Unfinished,
}

impl StagedFile {
    /// Writes bytes to a temporary file next to the output. Only its owner can read it: it contains a conversation.
    pub(crate) fn private(output: &Path, bytes: &[u8]) -> io::Result<Self> {
        Self::with_bytes(unfinished::builder(), output, bytes)
    }

    /// Writes a stream to a temporary file next to the output. Only its owner can read it.
    pub(crate) fn private_stream(
        output: &Path,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<Self> {
        Self::written(unfinished::builder(), output, |file| {
            let mut file = BufWriter::with_capacity(BUFFER, file);
            write(&mut file)?;
            file.flush()
        })
    }

    fn with_bytes(
        builder: tempfile::Builder<'_, 'static>,
        output: &Path,
        bytes: &[u8],
    ) -> io::Result<Self> {
        Self::written(builder, output, |file| file.write_all(bytes))
    }

    fn written(
        builder: tempfile::Builder<'_, 'static>,
        output: &Path,
        write: impl FnOnce(&mut NamedTempFile) -> io::Result<()>,
    ) -> io::Result<Self> {
        let (mut file, unfinished) = unfinished::temporary_file(builder, parent_folder(output))?;
        write(&mut file)?;
        file.as_file().sync_all()?;
        Ok(Self { file, unfinished })
    }

    /// Reads the file back from the disk.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        // If locks are mandatory, only the handle with the lock may read.
        let mut file = self.file.as_file();
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns true if the file on the disk has exactly these bytes.
    pub(crate) fn has_bytes(&self, bytes: &[u8]) -> io::Result<bool> {
        let mut file = self.file.as_file();
        file.rewind()?;
        let mut file = BufReader::with_capacity(BUFFER, file);
        let mut rest = bytes;
        loop {
            let part = file.fill_buf()?;
            let n = part.len();
            if n == 0 {
                return Ok(rest.is_empty());
            }
            match rest.strip_prefix(part) {
                Some(after) => rest = after,
                None => return Ok(false),
            }
            file.consume(n);
        }
    }

    /// Renames the file to its path, which must be free, and finishes the files that belong to it.
    pub(crate) fn commit(self, output: &Path, mut with: Vec<Unfinished>) -> io::Result<()> {
        with.push(self.unfinished);
        unfinished::finish(with, || Ok(self.file.persist_noclobber(output)?))?;
        sync_folder(output);
        Ok(())
    }

    /// Renames the file to its path, which must be free, as a part of an export that is unfinished.
    pub(crate) fn commit_unfinished(self, output: &Path) -> io::Result<Unfinished> {
        let Self { file, unfinished } = self;
        let put = || Ok(file.persist_noclobber(output).map(drop)?);
        let unfinished = unfinished::rename(unfinished, output, put)?;
        sync_folder(output);
        Ok(unfinished)
    }

    /// Renames the file to its path and replaces an existing file.
    fn replace(self, output: &Path) -> io::Result<()> {
        unfinished::finish(vec![self.unfinished], || Ok(self.file.persist(output)?))?;
        sync_folder(output);
        Ok(())
    }
}

/// Makes a new name durable. Not every platform can open a folder.
fn sync_folder(output: &Path) {
    if let Ok(folder) = fs::File::open(parent_folder(output)) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_write_error_names_the_output_and_not_our_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = NamedTempFile::new_in(folder.path().join("gone")).unwrap_err();
        assert!(error.to_string().contains(".tmp"), "the premise: {error}");
        let line = write_error(Path::new("out.json"), &error);
        assert!(line.starts_with("cannot write out.json (") && !line.contains(".tmp"), "{line}");
    }

    #[cfg(unix)]
    #[test]
    fn conversations_are_private_and_other_files_follow_the_mask() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mode = |name: &str| path(name).metadata().unwrap().permissions().mode() & 0o777;
        fs::write(path("usual"), b"x").unwrap();
        write_new(&path("page"), b"x").unwrap();
        replace(&path("baseline"), b"x").unwrap();
        assert_eq!([mode("page"), mode("baseline")], [mode("usual"); 2]);
        write_new_private(&path("session"), b"x").unwrap();
        replace_private(&path("state"), b"x").unwrap();
        assert_eq!([mode("session"), mode("state")], [0o600; 2]);
    }
}
