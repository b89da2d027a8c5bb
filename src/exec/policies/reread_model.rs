//! Reads the coefficients of expected re-reads.

use super::policy_file::{one_line, read_settings};
use crate::analysis::rereads::RereadModel;
use crate::exec::files::LoadError;
use std::path::Path;

/// Reads coefficients that `plimsoll evaluate --fit` wrote.
///
/// # Errors
/// Returns one line that names the file and the problem.
pub fn load_reread_model(path: &Path) -> Result<RereadModel, LoadError> {
    const KIND: &str = "file of coefficients that `plimsoll evaluate --fit` wrote";
    let text = read_settings(path, KIND)?;
    RereadModel::parse(&text).map_err(|error| {
        let (shown, why) = (path.display(), one_line(&error));
        LoadError(format!("{shown} is not a {KIND}: {why}"))
    })
}
