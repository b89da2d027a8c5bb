//! The tools of an application, as listed in the reminder.

use crate::json::Value;

/// The index of tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolIndex {
    /// Modules, in order.
    pub categories: Vec<Category>,
    /// Tools, in order.
    pub tools: Vec<IndexedTool>,
    /// Sub-agents with their purpose.
    pub specialists: Vec<(String, String)>,
    /// Commands of skills.
    pub skills: Vec<String>,
}

/// The tools of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Category {
    /// The module.
    pub module_id: String,
    /// Its tools' own names.
    pub tool_names: Vec<String>,
}

/// A tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexedTool {
    /// `module.action`.
    pub fqn: String,
    /// Its description.
    pub description: String,
    /// Example calls.
    pub examples: Vec<Value>,
}

impl ToolIndex {
    /// Makes the index of a session's tool definitions, in either provider's form. The part before `__` is the module.
    pub fn of_definitions(definitions: &[Value]) -> Self {
        let mut index = Self::default();
        for definition in definitions {
            let tool = definition.get("function").unwrap_or(definition);
            let Some(name) = tool["name"].as_str() else {
                continue;
            };
            let fqn = qualified(name);
            let (module, action) = fqn.split_once('.').unwrap_or(("tools", &fqn));
            index.add(module, action);
            index.tools.push(IndexedTool {
                description: text(&tool["description"]),
                examples: Vec::new(),
                fqn,
            });
        }
        index
    }

    fn add(&mut self, module: &str, action: &str) {
        let idx = self.categories.iter().position(|c| c.module_id == module);
        let idx = idx.unwrap_or_else(|| {
            self.categories.push(Category { module_id: module.to_owned(), tool_names: Vec::new() });
            self.categories.len() - 1
        });
        if let Some(category) = self.categories.get_mut(idx) {
            category.tool_names.push(action.to_owned());
        }
    }

    /// Returns the tool of this qualified name.
    pub(super) fn tool(&self, fqn: &str) -> Option<&IndexedTool> {
        self.tools.iter().find(|tool| tool.fqn == fqn)
    }
}

impl IndexedTool {
    /// Returns its description up to the first full stop.
    pub(super) fn short_description(&self) -> &str {
        let sentence = self.description.split('.').next();
        sentence.unwrap_or_default().trim_matches(crate::languages::python::is_space)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Converts `module__action`, the name that models receive, to `module.action`.
pub(super) fn qualified(name: &str) -> String {
    match name.rsplit_once("__") {
        Some((module, action)) if !module.is_empty() => format!("{module}.{action}"),
        _ => name.to_owned(),
    }
}
