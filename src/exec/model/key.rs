//! A provider's key: read or typed for one run, sent in one header, shown nowhere.

use std::fmt;
use std::sync::Arc;

/// A key. Copies share one text, which is overwritten when the last of them goes.
#[derive(Clone)]
pub struct Key(Arc<Secret>);

struct Secret {
    text: String,
    source: String,
}

/// Why there is no key. Never says what was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set, or empty.
    #[error("the environment variable {0} holds no key; set it, or name another variable")]
    Missing(String),
    /// It cannot be sent.
    #[error(
        "the key contains characters that are not allowed in a header; check that it was copied completely"
    )]
    Unsendable,
}

impl Key {
    /// From an environment variable.
    ///
    /// # Errors
    /// [`KeyError`] if it is not set, empty, or holds what no key holds.
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

    /// As a person typed it, for this run.
    ///
    /// # Errors
    /// [`KeyError`] if it holds what no key holds.
    pub fn typed(text: String) -> Result<Self, KeyError> {
        Self::new(text, "what was typed".to_owned())
    }

    fn new(text: String, source: String) -> Result<Self, KeyError> {
        // Taken in first, so that it is overwritten whatever comes of it.
        let given = Secret { text, source };
        let key = given.text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Unsendable);
        }
        let text = key.to_owned();
        let source = given.source.clone();
        Ok(Self(Arc::new(Secret { text, source })))
    }

    /// Where it came from, for people.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The key itself: for the header, and to be taken out of texts.
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
    /// As far as safe code can: copies in the connection's own buffers are not ours.
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
    fn a_key_is_shown_nowhere() {
        let key = Key::typed(" sk-secret\n".to_owned()).unwrap();
        assert_eq!(key.reveal(), "sk-secret");
        assert_eq!(format!("{key:?}"), "Key(from what was typed)");
        for bad in ["", " ", "a b", "schlüssel", "a\nb"] {
            assert_eq!(
                Key::typed(bad.to_owned()).unwrap_err(),
                KeyError::Unsendable
            );
        }
    }

    #[test]
    fn a_variable_that_holds_no_key_is_named() {
        for variable in ["PLIMSOLL_TEST_NO_SUCH_KEY", "", "A=B"] {
            let error = Key::from_environment(variable).unwrap_err();
            assert_eq!(error, KeyError::Missing(variable.to_owned()));
        }
    }
}
