//! Puts files in place whole or not at all, and says in one line why one cannot be.

use super::unfinished::{self, Unfinished};
use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::Path;
use tempfile::NamedTempFile;

/// Bytes that are written or compared at once.
const PART: usize = 1 << 20;

/// The folder that a file lies in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The folder of a file to be written must be there, and the file have a name.
pub(super) fn refuse_nowhere(output: &Path) -> Result<(), String> {
    if output.as_os_str().is_empty() {
        return Err("no file is named to write to; name one".to_owned());
    }
    match folder_of(output).metadata() {
        Ok(folder) if folder.is_dir() => Ok(()),
        _ => Err(format!(
            "{} is no folder; make it or write elsewhere",
            folder_of(output).display()
        )),
    }
}

/// Why a file could not be written. Only the kind of the error is told: its text names our temporary file.
pub(super) fn cannot_create(output: &Path, error: &io::Error) -> String {
    format!(
        "{} cannot be written ({}); write elsewhere",
        output.display(),
        reason(error)
    )
}

/// Why something cannot be done, without the paths that an error's own text may name.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        kind => kind.to_string(),
    }
}

/// Writes a new file so that it is there whole or not at all, also after a power cut.
pub(super) fn write_new(output: &Path, bytes: &[u8]) -> io::Result<()> {
    Staged::new(output, bytes)?.put_in_place(output, Vec::new())
}

/// Writes a file, in the place of the one that is there if there is one, readable by whom new files are readable by.
pub(super) fn replace(output: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = unfinished::builder();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Less what the system's mask takes away.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    Staged::made(builder, output, bytes)?.replace(output)
}

/// The same for a file of the program's own: readable by its owner alone, and not waited for until it is on the disk.
pub(super) fn replace_private(output: &Path, bytes: &[u8]) -> io::Result<()> {
    let builder = unfinished::builder();
    let (mut file, unfinished) = unfinished::temporary_file(builder, folder_of(output))?;
    file.write_all(bytes)?;
    unfinished::finish(vec![unfinished], || Ok(file.persist(output).map(drop)?))
}

/// A file that is written and safe on the disk, but not yet in its place.
#[derive(Debug)]
pub(super) struct Staged {
    file: NamedTempFile,
    unfinished: Unfinished,
}

impl Staged {
    /// Writes it beside its place.
    pub(super) fn new(output: &Path, bytes: &[u8]) -> io::Result<Self> {
        Self::made(unfinished::builder(), output, bytes)
    }

    /// Writes it beside its place, part by part.
    pub(super) fn streamed(
        output: &Path,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<Self> {
        Self::written(unfinished::builder(), output, |file| {
            let mut file = BufWriter::with_capacity(PART, file);
            write(&mut file)?;
            file.flush()
        })
    }

    fn made(
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
        let (mut file, unfinished) = unfinished::temporary_file(builder, folder_of(output))?;
        write(&mut file)?;
        file.as_file().sync_all()?;
        Ok(Self { file, unfinished })
    }

    /// What the disk holds of it.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        // Where locks bind, only the handle that holds one may read.
        let mut file = self.file.as_file();
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether the disk holds these bytes and no others.
    pub(super) fn holds(&self, bytes: &[u8]) -> io::Result<bool> {
        let mut file = self.file.as_file();
        file.rewind()?;
        let mut file = BufReader::with_capacity(PART, file);
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

    /// Puts it in its place, where nothing may be; with it, all that belongs to it is finished.
    pub(super) fn put_in_place(self, output: &Path, mut with: Vec<Unfinished>) -> io::Result<()> {
        with.push(self.unfinished);
        unfinished::finish(with, || Ok(self.file.persist_noclobber(output)?))?;
        settle(output);
        Ok(())
    }

    /// Puts it in its place, where nothing may be, as a part of something that is not finished.
    pub(super) fn put_beside(self, output: &Path) -> io::Result<Unfinished> {
        let Self { file, unfinished } = self;
        let put = || Ok(file.persist_noclobber(output).map(drop)?);
        let unfinished = unfinished::rename(unfinished, output, put)?;
        settle(output);
        Ok(unfinished)
    }

    /// Puts it in the place of whatever is there.
    fn replace(self, output: &Path) -> io::Result<()> {
        unfinished::finish(vec![self.unfinished], || Ok(self.file.persist(output)?))?;
        settle(output);
        Ok(())
    }
}

/// The name is durable once its folder is; not every platform can open a folder.
fn settle(output: &Path) {
    if let Ok(folder) = fs::File::open(folder_of(output)) {
        let _ = folder.sync_all();
    }
}

/// One file under two names: other spellings, links, and hard links where the platform tells.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    let is_same_place = matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    is_same_place || matches!((fs::metadata(a), fs::metadata(b)), (Ok(a), Ok(b)) if is_one(&a, &b))
}

#[cfg(unix)]
pub(super) fn is_one(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
pub(super) fn is_one(_a: &fs::Metadata, _b: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_reason_names_the_output_and_never_our_temporary_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let error = NamedTempFile::new_in(folder.path().join("gone")).unwrap_err();
        assert!(error.to_string().contains(".tmp"), "the premise: {error}");
        let said = cannot_create(Path::new("out.json"), &error);
        assert!(
            said.starts_with("out.json cannot be written (") && !said.contains(".tmp"),
            "{said}"
        );
        let output = folder.path().join("picture.png");
        replace(&output, b"x").unwrap();
        let mode = output.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o600, 0o600);
    }
}
