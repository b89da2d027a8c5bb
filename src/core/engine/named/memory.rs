//! State that named actions keep between calls of a run.

use crate::json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// State that an action keeps between calls, for this run only. Holds JSON, which can be displayed and compared, and
/// values of the action's own types. Copies share both. Dereferences to the JSON.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    json: Arc<Value>,
    shared: Arc<BTreeMap<&'static str, Arc<dyn Any + Send + Sync>>>,
}

impl Memory {
    /// Adds a value that copies share.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, key: &'static str, value: T) -> Self {
        Arc::make_mut(&mut self.shared).insert(key, Arc::new(value));
        self
    }

    /// Returns a value that [`Self::with`] added.
    pub fn shared<T: Any>(&self, key: &str) -> Option<&T> {
        self.shared.get(key)?.downcast_ref()
    }

    /// Merges the state of an action; keys that it does not contain are unchanged.
    pub(crate) fn update(&mut self, new: &Self) {
        if let Value::Object(added) = &*new.json {
            match Arc::make_mut(&mut self.json) {
                Value::Object(kept) => kept.extend(added.clone()),
                _ => self.json = Arc::clone(&new.json),
            }
        }
        if !new.shared.is_empty() {
            let shared = new.shared.iter();
            let shared = shared.map(|(key, value)| (*key, Arc::clone(value)));
            Arc::make_mut(&mut self.shared).extend(shared);
        }
    }
}

impl From<Value> for Memory {
    fn from(json: Value) -> Self {
        Self { json: Arc::new(json), ..Self::default() }
    }
}

impl Deref for Memory {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.json
    }
}
