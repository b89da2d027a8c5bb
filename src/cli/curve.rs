//! `--curve`: the curve of a replay as a file of its own.

use super::args::Words;
use super::output::note;
use super::window::parse_theme;
use super::{Status, Theme};
use crate::exec::{Loaded, refuse_output, write_file};
use crate::formats;
use crate::report::{Drawing, Played, Subject, draw, series, svg};
use crate::units::Tokens;
use anyhow::bail;
use std::path::PathBuf;

/// A drawing to be painted into a file.
#[derive(Debug)]
pub struct Picture {
    /// What to paint.
    pub drawing: Drawing,
    /// In which colors.
    pub theme: Theme,
    /// A new PNG.
    pub output: PathBuf,
}

/// The options as typed.
#[derive(Debug, Default)]
pub(super) struct CurveArgs {
    output: Option<PathBuf>,
    theme: Option<Theme>,
}

/// A curve to be written, to a place that was free.
#[derive(Debug)]
pub(super) struct CurveFile {
    output: PathBuf,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Png(Theme),
    Svg,
    Csv,
}

impl CurveArgs {
    /// Takes an option if it is one of these.
    pub(super) fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        match option {
            "--curve" => self.output = Some(PathBuf::from(words.raw_value(option)?)),
            "--theme" => self.theme = Some(parse_theme(&words.value(option)?)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What is to be written, if anything is; known before a long file is read.
    pub(super) fn checked(self) -> anyhow::Result<Option<CurveFile>> {
        let Some(output) = self.output else {
            if self.theme.is_some() {
                bail!("--theme is the theme of a picture: add --curve OUT.png");
            }
            return Ok(None);
        };
        let extension = output.extension().unwrap_or_default().to_ascii_lowercase();
        let form = match extension.to_str() {
            Some("png") => Form::Png(self.theme.unwrap_or(Theme::Light)),
            _ if self.theme.is_some() => bail!("--theme is for a .png; leave it out"),
            Some("svg") => Form::Svg,
            Some("csv") => Form::Csv,
            _ => bail!(
                "--curve {}: the name must end in .png, .svg or .csv",
                output.display()
            ),
        };
        refuse_output(&output).map_err(anyhow::Error::msg)?;
        Ok(Some(CurveFile { output, form }))
    }
}

impl CurveFile {
    /// Writes it, or leaves it to be painted.
    pub(super) fn write(
        self,
        loaded: &Loaded,
        reserve: Tokens,
        played: &[Played],
    ) -> anyhow::Result<Status> {
        let text = match self.form {
            Form::Csv => series(played),
            Form::Svg => svg(&drawing(loaded, reserve, played)?),
            Form::Png(theme) => {
                return Ok(Status::Paints(Box::new(Picture {
                    drawing: drawing(loaded, reserve, played)?,
                    theme,
                    output: self.output,
                })));
            }
        };
        write_file(&self.output, text.as_bytes()).map_err(anyhow::Error::msg)?;
        note(&format!("the curve is in {}", self.output.display()));
        Ok(Status::Done)
    }
}

fn drawing(loaded: &Loaded, reserve: Tokens, played: &[Played]) -> anyhow::Result<Drawing> {
    let subject = Subject {
        case: &loaded.case,
        warnings: &[],
        format: "",
        output_reserve: reserve,
        lanes: played,
        records_compactions: formats::records_compactions(&loaded.case.session),
    };
    draw(&subject.plain_curve())
        .ok_or_else(|| anyhow::anyhow!("the session has no model call, so there is no curve"))
}
