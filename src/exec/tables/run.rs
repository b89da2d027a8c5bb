//! Reads files in parts and writes the tables of each part.

use super::column::ContentHash;
use super::file_rows::{Day, FileRows, Stage, UNKNOWN_DAY, failure_row};
use super::inputs::{HashedFile, NamedFile, ShardFiles};
use super::manifest::{Manifest, ManifestFile, part_name};
use super::options::{Conditions, TableFormat, TableOptions};
use super::rows::{FailureRow, TABLES};
use super::schema::{Rows, Table};
use super::workers::{FileResult, Workers};
use super::write::encode;
use crate::exec::files::{LoadError, replace, replace_keeping_permissions, write_error};
use crate::exec::inputs::Inputs;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of files of a part. Chosen: the rows of a part stay in memory until it is written, about 200 MB for sessions of 100
/// calls; parts of a tenth make small files.
const PART: usize = 2_000;
/// Number of bytes of the files of a part, unless it has one file. Chosen: with `--text`, rows have about the size of their
/// files; 2,000 sessions of the median size have less than half of this.
const PART_BYTES: u64 = 512 << 20;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct TableProgress {
    /// Number of files that are done.
    pub done: usize,
    /// Number of all files.
    pub total: usize,
    /// Number of files that failed.
    pub failed: usize,
}

/// Result of a run.
#[derive(Clone, Debug, Default)]
pub struct TableSummary {
    /// Number of files that were found, of all shards.
    pub found: usize,
    /// Number of files of the shard.
    pub files: usize,
    /// Number of files with rows.
    pub read: usize,
    /// Number of conversations with rows.
    pub conversations: usize,
    /// Number of files without rows.
    pub failed: usize,
    /// Number of rows of `failures`: files, and conversations of other files.
    pub failures: usize,
    /// Number of files that the folder already has.
    pub skipped: usize,
    /// Number of rows of `failures` that the folder has of earlier runs, if it resumes.
    pub known_failures: usize,
    /// Number of files with the same content as another one.
    pub duplicates: usize,
    /// Number of files that Plimsoll itself wrote, which are not read.
    pub own_outputs: usize,
    /// Path and reason of the first failure, by path.
    pub first_failure: Option<(String, String)>,
    /// Names of the parts.
    pub parts: Vec<String>,
    /// The tables with rows, in order.
    pub tables: Vec<WrittenTable>,
}

/// Written files of a table.
#[derive(Clone, Debug)]
pub struct WrittenTable {
    /// Name.
    pub name: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Number of files.
    pub files: usize,
    /// Size of the files in bytes.
    pub bytes: u64,
}

/// Reads session files and writes their tables. `given` are the paths that the files are named relative to. Blocks.
///
/// # Errors
/// Returns a [`LoadError`] if there is no file to read or the tables cannot be written. A file that cannot be read is a row
/// of `failures`.
pub fn write_tables(
    inputs: &Inputs,
    given: &[PathBuf],
    options: TableOptions,
    on_progress: impl FnMut(TableProgress),
) -> Result<TableSummary, LoadError> {
    let output = options.output.clone();
    fs::create_dir_all(&output).map_err(|error| LoadError(write_error(&output, &error)))?;
    let mut shard = ShardFiles::new(inputs, given, options.shard);
    shard.leave_out(&output);
    if shard.all == 0 {
        let elsewhere = "no session file was found; give another folder";
        let inside =
            "all session files are below the folder of the tables; choose another folder for them";
        let reason = if shard.n_inside > 0 { inside } else { elsewhere };
        return Err(LoadError(reason.to_owned()));
    }
    let (known, known_failures) =
        if options.resumes { Manifest::known(&options) } else { (HashSet::new(), 0) };
    let mut run = Run {
        summary: TableSummary {
            known_failures,
            found: shard.all,
            files: shard.files.len() + shard.unread.len(),
            own_outputs: inputs.own_outputs.len(),
            ..TableSummary::default()
        },
        conditions: options.conditions(),
        options: Arc::new(options),
        known,
        seen: HashSet::new(),
        done: 0,
        on_progress,
    };
    let (mut rest, mut unread) = (&shard.files[..], shard.unread);
    while let Some(part) = run.next_part(&mut rest, &mut unread) {
        run.write_part(part)?;
    }
    write_empty_tables(&run.options)?;
    run.report();
    Ok(run.summary)
}

struct Run<F> {
    options: Arc<TableOptions>,
    conditions: Conditions,
    /// Contents that the folder has.
    known: HashSet<String>,
    /// Contents of this run.
    seen: HashSet<[u8; 32]>,
    summary: TableSummary,
    /// Number of files that are done.
    done: usize,
    on_progress: F,
}

/// Files whose rows are written together.
struct Part {
    files: Vec<HashedFile>,
    /// Files that cannot be read, with the reason.
    unread: Vec<(NamedFile, String)>,
}

impl<F: FnMut(TableProgress)> Run<F> {
    fn report(&mut self) {
        (self.on_progress)(TableProgress {
            done: self.done,
            total: self.summary.files,
            failed: self.summary.failed,
        });
    }

    /// Hashes files until a part is full; `None` if no file is left.
    fn next_part(
        &mut self,
        rest: &mut &[NamedFile],
        unread: &mut Vec<(NamedFile, String)>,
    ) -> Option<Part> {
        let mut part = Part { files: Vec::new(), unread: std::mem::take(unread) };
        loop {
            let room = PART.saturating_sub(part.files.len() + part.unread.len());
            let mut bytes: u64 = part.files.iter().map(|file| file.origin.bytes).sum();
            let fits = |file: &&NamedFile| {
                bytes += file.bytes;
                bytes <= PART_BYTES
            };
            let n = rest.iter().take(room).take_while(fits).count();
            // A file that is larger than a part is one by itself.
            let is_alone = n == 0 && part.files.is_empty() && part.unread.is_empty();
            let n = if is_alone { rest.len().min(1) } else { n };
            let (block, others) = rest.split_at(n);
            if block.is_empty() {
                break;
            }
            *rest = others;
            let hashed: Vec<_> = block.par_iter().map(NamedFile::hash).collect();
            for (file, hashed) in block.iter().zip(hashed) {
                match hashed {
                    Ok(hashed) if !self.seen.insert(*hashed.origin.sha256.bytes()) => {
                        self.summary.duplicates += 1;
                        self.done += 1;
                    }
                    Ok(hashed) if self.known.contains(&hashed.origin.sha256.to_string()) => {
                        self.summary.skipped += 1;
                        self.done += 1;
                    }
                    Ok(hashed) => part.files.push(hashed),
                    Err(reason) => part.unread.push((file.clone(), reason)),
                }
            }
            self.report();
        }
        (!part.files.is_empty() || !part.unread.is_empty()).then_some(part)
    }

    /// Reads the files of a part and writes its tables and its manifest.
    fn write_part(&mut self, mut part: Part) -> Result<(), LoadError> {
        // Rows are in the order of the contents.
        part.files.sort_by(|a, b| a.origin.sha256.cmp(&b.origin.sha256));
        let mut rows: Vec<FileRows> = part.files.iter().map(|_| FileRows::default()).collect();
        let mut timed_out = Vec::new();
        let (files, options) = (&part.files, Arc::clone(&self.options));
        let workers = Workers::start(&options, files.len());
        let mut workers = workers.map_err(|error| LoadError(error.to_string()))?;
        let mut failed: BTreeMap<String, String> = BTreeMap::new();
        let (mut done, mut n_failed) = (self.done, self.summary.failed);
        let (total, on_progress) = (self.summary.files, &mut self.on_progress);
        let counts = std::cell::Cell::new((done, n_failed));
        let on_result = |FileResult { index, rows: result, has_timed_out }: FileResult| {
            done += 1;
            let file = &files[index];
            rows[index] = result.unwrap_or_else(|failure| {
                n_failed += 1;
                failed.insert(file.origin.path.clone(), failure.reason.clone());
                let mut rows = FileRows::default();
                rows.fail(failure_row(file, None, failure));
                rows
            });
            timed_out.extend(has_timed_out.then(|| file.origin.sha256.to_string()));
            counts.set((done, n_failed));
        };
        let on_tick = || {
            let (done, failed) = counts.get();
            on_progress(TableProgress { done, total, failed });
        };
        let read = workers.read(files, on_result, on_tick);
        read.map_err(|error| LoadError(error.to_string()))?;
        self.done = done + part.unread.len();
        self.summary.read += part.files.len() - (n_failed - self.summary.failed);
        self.summary.failed = n_failed + part.unread.len();
        for (file, reason) in &part.unread {
            failed.insert(file.name.clone(), reason.clone());
            rows.push(unread_row(file, reason));
        }
        let first = failed.into_iter().next();
        self.summary.first_failure = self.summary.first_failure.take().or(first);
        self.write_rows(&part, rows, timed_out)
    }

    fn write_rows(
        &mut self,
        part: &Part,
        rows: Vec<FileRows>,
        mut timed_out: Vec<String>,
    ) -> Result<(), LoadError> {
        let contents = part.files.iter().map(|file| file.origin.sha256.clone());
        let contents: Vec<ContentHash> = contents.collect();
        let unread: Vec<&str> = part.unread.iter().map(|(file, _)| &*file.name).collect();
        timed_out.sort_unstable();
        let name = part_name(&contents, &unread, &timed_out, &self.conditions);
        let failures: usize = rows.iter().map(|rows| rows.failures).sum();
        self.summary.failures += failures;
        self.summary.conversations += rows.iter().map(|rows| rows.conversations).sum::<usize>();
        let mut tables: BTreeMap<(&'static str, Day), Vec<Rows>> = BTreeMap::new();
        for (key, rows) in rows.into_iter().flat_map(|rows| rows.tables) {
            tables.entry(key).or_default().push(rows);
        }
        tables.retain(|(table, _), _| self.options.tables.contains(table));
        let options = &self.options;
        let written = tables.into_par_iter().map(|((table, day), pieces)| {
            let extension = options.format.name();
            let path = format!("{table}/day={day}/{name}.{extension}");
            write_file(options, table, path, pieces).map(|file| (table, file))
        });
        let written: Vec<(&'static str, ManifestFile)> = written.collect::<Result<_, _>>()?;
        for (table, file) in &written {
            self.summary.add(table, file);
        }
        let manifest = Manifest {
            part: name.clone(),
            conditions_sha256: self.conditions.sha256(),
            conditions: self.conditions.clone(),
            inputs: contents.iter().map(ToString::to_string).collect(),
            timed_out,
            failures,
            files: written.into_iter().map(|(_, file)| file).collect(),
        };
        let wrote = manifest.write(&self.options.output);
        wrote.map_err(|error| LoadError(write_error(&self.options.output, &error)))?;
        self.summary.parts.push(name);
        Ok(())
    }
}

/// Writes a file without rows for each table, always the same: a table that no session has rows of can then be queried, too.
fn write_empty_tables(options: &TableOptions) -> Result<(), LoadError> {
    // JSON Lines has no columns without a row.
    if options.format == TableFormat::JsonLines {
        return Ok(());
    }
    for table in &options.tables {
        let path = format!("{table}/day={UNKNOWN_DAY}/empty.{}", options.format.name());
        write_file(options, table, path, Vec::new())?;
    }
    Ok(())
}

fn columns(table: &str) -> Result<Table, LoadError> {
    let table = TableOptions::table(table).copied();
    table.ok_or_else(|| LoadError("no such table".to_owned()))
}

/// Returns the row of a file that cannot be read.
fn unread_row(file: &NamedFile, reason: &str) -> FileRows {
    let mut rows = FileRows::default();
    rows.fail(FailureRow {
        content_sha256: None,
        path: file.name.clone().into(),
        conversation: None,
        stage: Stage::Read.name().into(),
        reason: reason.to_owned().into(),
    });
    rows
}

/// Writes the rows of a table and a day. Text of sessions is readable by the owner only.
fn write_file(
    options: &TableOptions,
    table: &str,
    path: String,
    pieces: Vec<Rows>,
) -> Result<ManifestFile, LoadError> {
    let table = columns(table)?;
    let rows = pieces.iter().map(|rows| rows.len).sum();
    let output = options.output.join(&path);
    let failed = |error| LoadError(write_error(&output, &error));
    let bytes = encode(options.format, table, options.with_text, pieces.into_iter());
    let bytes = bytes.map_err(failed)?;
    fs::create_dir_all(output.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    let wrote = if options.with_text {
        replace_keeping_permissions(&output, &bytes)
    } else {
        replace(&output, &bytes)
    };
    wrote.map_err(failed)?;
    Ok(ManifestFile { path, rows, bytes: bytes.len() as u64 })
}

impl TableSummary {
    fn add(&mut self, table: &'static str, file: &ManifestFile) {
        let at = self.tables.iter().position(|written| written.name == table);
        let at = at.unwrap_or_else(|| {
            self.tables.push(WrittenTable { name: table, rows: 0, files: 0, bytes: 0 });
            self.tables.len() - 1
        });
        let written = &mut self.tables[at];
        written.rows += file.rows;
        written.files += 1;
        written.bytes += file.bytes;
        let order = |name: &str| TABLES.iter().position(|table| table.name == name);
        self.tables.sort_by_key(|written| order(written.name));
    }
}
