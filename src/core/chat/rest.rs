//! Further fields of a message or call.

use crate::json::{Map, Value, json};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
static FUNCTION_CALL: LazyLock<Rest> =
    LazyLock::new(|| Map::from_iter([("type".to_owned(), json!("function"))]).into());

/// Further fields of a message or call, verbatim. Clones share them, and most messages have none: millions of messages
/// need little memory.
#[derive(Clone, Debug, Default)]
pub struct Rest(Option<Arc<Map<String, Value>>>);

impl Rest {
    /// Returns the further fields of a call in OpenAI's shape: `"type": "function"`.
    pub fn of_function_call() -> Self {
        FUNCTION_CALL.clone()
    }
}

impl From<Map<String, Value>> for Rest {
    fn from(fields: Map<String, Value>) -> Self {
        Self((!fields.is_empty()).then(|| Arc::new(fields)))
    }
}

impl Deref for Rest {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for Rest {
    fn deref_mut(&mut self) -> &mut Map<String, Value> {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl PartialEq for Rest {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
