//! `--curve`: writes the curve of a replay to a file.

use super::output::note;
use super::status::{Picture, Status};
use super::theme::{Theme, theme};
use crate::analysis::rereads::RereadModel;
use crate::exec::{Loaded, check_is_new, write_file};
use crate::formats;
use crate::report::{Drawing, Played, ReportSubject, draw, series, svg};
use crate::units::Tokens;
use anyhow::bail;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options that write the curve.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Curve")]
pub(super) struct CurveArgs {
    /// Write the curve to a new file: .png, .svg or .csv
    #[arg(long = "curve", value_name = "OUT")]
    output: Option<PathBuf>,
    /// Theme of a .png [default: light]
    #[arg(long, value_parser = theme(), requires = "output")]
    theme: Option<Theme>,
}

/// A curve to write, and its path, which was free when checked.
#[derive(Debug)]
pub(super) struct CurveFile {
    output: PathBuf,
    format: CurveFormat,
}

#[derive(Clone, Copy, Debug)]
enum CurveFormat {
    Png(Theme),
    Svg,
    Csv,
}

impl CurveArgs {
    /// Checks the output before the session is loaded; none if no curve is written.
    pub(super) fn checked(self) -> anyhow::Result<Option<CurveFile>> {
        let Some(output) = self.output else {
            return Ok(None);
        };
        let extension = output.extension().unwrap_or_default().to_ascii_lowercase();
        let format = match extension.to_str() {
            Some("png") => CurveFormat::Png(self.theme.unwrap_or(Theme::Light)),
            _ if self.theme.is_some() => bail!("--theme applies to .png only; remove it"),
            Some("svg") => CurveFormat::Svg,
            Some("csv") => CurveFormat::Csv,
            _ => bail!("--curve {}: the name must end in .png, .svg or .csv", output.display()),
        };
        check_is_new(&output).map_err(anyhow::Error::msg)?;
        Ok(Some(CurveFile { output, format }))
    }
}

impl CurveFile {
    /// Writes the curve, or returns it for painting.
    pub(super) fn write(
        self,
        loaded: &Loaded,
        reserve: Tokens,
        played: &[Played],
    ) -> anyhow::Result<Status> {
        let text = match self.format {
            CurveFormat::Csv => series(played),
            CurveFormat::Svg => svg(&drawing(loaded, reserve, played)?),
            CurveFormat::Png(theme) => {
                return Ok(Status::Paints(Box::new(Picture {
                    drawing: drawing(loaded, reserve, played)?,
                    theme,
                    output: self.output,
                })));
            }
        };
        write_file(&self.output, text.as_bytes()).map_err(anyhow::Error::msg)?;
        note(&format!("curve written to {}", self.output.display()));
        Ok(Status::Done)
    }
}

fn drawing(loaded: &Loaded, reserve: Tokens, played: &[Played]) -> anyhow::Result<Drawing> {
    let subject = ReportSubject {
        case: &loaded.case,
        warnings: &[],
        format: "",
        output_reserve: reserve,
        lanes: played,
        records_compactions: formats::records_compactions(&loaded.case.session),
        reread_model: RereadModel::bundled(),
        tree: None,
        notes: &BTreeMap::new(),
    };
    draw(&subject.plain_curve())
        .ok_or_else(|| anyhow::anyhow!("the session has no model call, so there is no curve"))
}
