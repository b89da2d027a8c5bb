//! `plimsoll evaluate --validity`, `--fit` and `--items`: whether expected re-reads predict, and coefficients of one's
//! own.

mod page;
mod people;

use crate::analysis::rereads::{
    FileReads, RereadItem, RereadModel, Validity, observed_items, parse_items, write_items,
};
use crate::cli::args::{GlobalOptions, InputArgs};
use crate::cli::output::{note, print};
use crate::cli::status::Status;
use crate::cli::targets::Targets;
use crate::exec::{OwnFileKind, check_own, read_packed_text, write_own};
use crate::figure::grouped;
use anyhow::{Context as _, bail};
use people::{People, PersonBy};
use std::path::{Path, PathBuf};

/// Options of the validity of expected re-reads.
#[derive(Debug, clap::Args)]
pub(super) struct ValidityArgs {
    /// Write a page on whether expected re-reads hold for these sessions
    #[arg(long, value_name = "OUT.md")]
    validity: Option<PathBuf>,
    /// Fit the coefficients of expected re-reads, for --risk-model
    #[arg(long, value_name = "OUT.toml")]
    fit: Option<PathBuf>,
    /// Write the table behind both (numbers only), a FILE for them
    #[arg(long, value_name = "OUT.csv")]
    items: Option<PathBuf>,
    /// Person of a session: repository, folder, or a column of a table
    #[arg(long, value_name = "BY", value_parser = PersonBy::parse)]
    by_person: Option<PersonBy>,
}

/// First line of a table of items; a file that begins with it may be overwritten.
const TABLE_START: &str = "session,person,program,";
/// First word of a file of coefficients.
const MODEL_START: &str = "source = ";

const PAGE: OwnFileKind = OwnFileKind {
    name: "page of plimsoll evaluate --validity",
    is_own: |text| text.starts_with(page::TITLE),
};
const MODEL: OwnFileKind = OwnFileKind {
    name: "file of plimsoll evaluate --fit",
    is_own: |text| text.starts_with(MODEL_START),
};
const TABLE: OwnFileKind = OwnFileKind {
    name: "table of plimsoll evaluate --items",
    is_own: |text| text.starts_with(TABLE_START),
};

impl ValidityArgs {
    /// Returns the first option that is given.
    pub(super) fn first(&self) -> Option<&'static str> {
        let all = [
            ("--validity", self.validity.is_some()),
            ("--fit", self.fit.is_some()),
            ("--items", self.items.is_some()),
        ];
        all.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// Fails if an option has no effect, or the name of the page has another ending than that of Markdown.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.by_person.is_some() && self.first().is_none() {
            bail!("--by-person requires --validity, --fit or --items");
        }
        let Some(page) = &self.validity else {
            return Ok(());
        };
        let extension = page.extension().unwrap_or_default().to_ascii_lowercase();
        if extension != "md" && extension != "markdown" {
            bail!("--validity {}: the page is Markdown; the name must end in .md", page.display());
        }
        Ok(())
    }

    /// Reads all sessions, or the table of items that is given instead, and writes the files.
    pub(super) fn run(
        &self,
        inputs: &InputArgs,
        shared: &GlobalOptions,
        model: &RereadModel,
    ) -> anyhow::Result<Status> {
        let outputs = [(&self.validity, PAGE), (&self.fit, MODEL), (&self.items, TABLE)];
        for (path, kind) in &outputs {
            path.as_deref().map_or(Ok(()), |path| check_own(path, *kind))?;
        }
        let Observed { items, source } = self.observed(inputs, shared)?;
        let validity = Validity::of(&items, model, source);
        let of_files = |path: &Option<PathBuf>, text: &dyn Fn() -> anyhow::Result<String>, kind| {
            let Some(path) = path else {
                return Ok(());
            };
            write_own(path, &text()?, kind)?;
            note(&format!("{} written", path.display()));
            anyhow::Ok(())
        };
        of_files(&self.items, &|| Ok(write_items(&items)), TABLE)?;
        of_files(&self.validity, &|| Ok(page::validity_text(&validity)), PAGE)?;
        let fitted = || match &validity.model {
            Ok(model) => Ok(model.to_toml()),
            Err(why) => bail!("too little to fit: {why}"),
        };
        of_files(&self.fit, &fitted, MODEL)?;
        print(&page::summary(&validity))?;
        Ok(Status::Done)
    }

    /// Returns the items of all sessions or of a table, and what they come from.
    fn observed(&self, inputs: &InputArgs, shared: &GlobalOptions) -> anyhow::Result<Observed> {
        if let [path] = &inputs.files[..]
            && is_table(path)
        {
            let column = match &self.by_person {
                None => "person",
                Some(PersonBy::Column(name)) => name,
                Some(PersonBy::Repository | PersonBy::Folder) => {
                    bail!("--by-person of a table names one of its columns")
                }
            };
            let text = read_packed_text(path)?;
            let items = parse_items(&text, column).map_err(anyhow::Error::msg);
            return Ok(Observed {
                items: items.with_context(|| path.display().to_string())?,
                source: file_name(path),
            });
        }
        let by = self.by_person.clone().unwrap_or(PersonBy::Repository);
        if let PersonBy::Column(name) = &by {
            bail!(
                "--by-person {name}: sessions have no columns; use repository or folder, or give a table"
            );
        }
        let targets = Targets::new("evaluate", inputs, shared)?;
        let (mut people, mut items) = (People::new(by), Vec::new());
        let mut session = 0;
        targets.each(shared, |id, case| {
            if !case.session.compactions.is_empty() {
                let person = people.number(&id.file, &case.session);
                let found = observed_items(&FileReads::new(case), case, (session, person));
                session += u32::from(!found.is_empty());
                items.extend(found);
            }
            Ok(())
        })?;
        Ok(Observed { items, source: "own sessions".to_owned() })
    }
}

/// Items, and the name of what they come from.
struct Observed {
    items: Vec<RereadItem>,
    source: String,
}

fn is_table(path: &Path) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".csv").is_some()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Formats a count of items.
fn number(n: usize) -> String {
    grouped(n as u64)
}
