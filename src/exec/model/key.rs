//! A provider's key: read or typed for one run, sent in one header, never shown.

use std::fmt;
use std::sync::Arc;

/// A key. Copies share one text, which is overwritten when the last copy is dropped.
#[derive(Clone)]
pub struct Key(Arc<Secret>);

struct Secret {
    text: String,
    source: String,
}

/// Reason why there is no key, without the given text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The variable is unset or empty.
    #[error("the environment variable {0} contains no key; set it, or name another variable")]
    Missing(String),
    /// The key contains characters that a header cannot have.
    #[error(
        "the key contains characters that are not allowed in a header; check that it was copied completely"
    )]
    Unsendable,
}

impl Key {
    /// Reads a key from an environment variable.
    ///
    /// # Errors
    /// Returns a [`KeyError`] if the variable is unset or empty, or the key is invalid.
    pub fn from_environment(variable: &str) -> Result<Self, KeyError> {
        let missing = || KeyError::Missing(variable.to_owned());
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(missing());
        }
        let text = std::env::var_os(variable).ok_or_else(missing)?;
        let text = text.into_string().map_err(|_os| KeyError::Unsendable)?;
        if text.trim().is_empty() {
            return Err(missing());
        }
        Self::new(text, format!("the environment variable {variable}"))
    }

    /// Creates a key that the user typed for this run.
    ///
    /// # Errors
    /// Returns a [`KeyError`] if the key is invalid.
    pub fn typed(text: String) -> Result<Self, KeyError> {
        Self::new(text, "the text field".to_owned())
    }

    fn new(text: String, source: String) -> Result<Self, KeyError> {
        // Wrapped first, so that the text is overwritten in every case.
        let given = Secret { text, source };
        let key = given.text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Unsendable);
        }
        let text = key.to_owned();
        let source = given.source.clone();
        Ok(Self(Arc::new(Secret { text, source })))
    }

    /// Returns where the key comes from, as text for users.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns the key, for the header and for removing it from texts.
    pub(super) fn reveal(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(from {})", self.0.source)
    }
}

impl Drop for Secret {
    /// Overwrites the key as far as safe code can. Copies in the buffers of the connection remain.
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.fill(0);
        std::hint::black_box(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::typed(" sk-secret\n".to_owned()).unwrap();
        assert_eq!(key.reveal(), "sk-secret");
        assert_eq!(format!("{key:?}"), "Key(from the text field)");
        for bad in ["", " ", "a b", "schlüssel", "a\nb"] {
            assert_eq!(Key::typed(bad.to_owned()).unwrap_err(), KeyError::Unsendable);
        }
    }

    #[test]
    fn a_variable_without_a_key_is_named() {
        for variable in ["PLIMSOLL_TEST_NO_SUCH_KEY", "", "A=B"] {
            let error = Key::from_environment(variable).unwrap_err();
            assert_eq!(error, KeyError::Missing(variable.to_owned()));
        }
    }
}
