//! Finds which file imports which.
//!
//! An import leads to the file that defines the name, also through re-exports. Imports from a module into the files of its
//! own folder do not count, because it declares them.

use crate::source::Source;
use std::collections::{BTreeMap, HashMap};

/// A module path below `crate`, as if all our crates were one, such as `["app", "cost"]`.
pub(crate) type ModulePath = Vec<String>;

/// An import of a name that another file defines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import<'a> {
    /// The file that imports.
    pub(crate) file: &'a str,
    /// The module of this file.
    pub(crate) from: &'a [String],
    /// The module that defines the name.
    pub(crate) to: &'a [String],
    /// The path in the code, absolute.
    pub(crate) path: &'a [String],
}

/// Source files by their module path.
#[derive(Debug)]
pub(crate) struct Modules<'a>(BTreeMap<ModulePath, Module<'a>>);

#[derive(Debug)]
struct Module<'a> {
    file: &'a str,
    /// Paths in the code, absolute where they start at a known module.
    paths: Vec<ModulePath>,
    /// The last name of each path, as an import binds it.
    bindings: HashMap<String, ModulePath>,
}

impl<'a> Modules<'a> {
    /// Resolves the paths of source files.
    pub(crate) fn new(sources: impl IntoIterator<Item = &'a Source>) -> Self {
        let sources = sources.into_iter().map(|source| (module_path(&source.path), source));
        let sources: BTreeMap<ModulePath, &Source> = sources.collect();
        let is_module = |path: &[String]| sources.contains_key(path);
        let module = |(path, source): (&ModulePath, &&'a Source)| {
            (path.clone(), Module::new(path, source, is_module))
        };
        Self(sources.iter().map(module).collect())
    }

    /// Returns the imports of all files, sorted by file and path.
    pub(crate) fn imports(&self) -> Vec<Import<'_>> {
        let mut imports = Vec::new();
        for (from, module) in &self.0 {
            for path in &module.paths {
                let to = self.definer(path, 0).filter(|to| !to.starts_with(from));
                imports.extend(to.map(|to| Import { file: module.file, from, to, path }));
            }
        }
        imports.sort_by_key(|import| (import.file, import.path));
        imports
    }

    /// Returns the module that defines a name, following re-exports.
    fn definer(&self, path: &[String], depth: usize) -> Option<&[String]> {
        /// Maximum number of re-exports to follow.
        const MAX_DEPTH: usize = 6;
        let len = (1..=path.len()).take_while(|len| self.0.contains_key(&path[..*len])).last()?;
        let (found, module) = self.0.get_key_value(&path[..len])?;
        let rest = &path[len..];
        let bound = rest.first().and_then(|name| module.bindings.get(name));
        match bound.filter(|bound| depth < MAX_DEPTH && bound[..] != path[..=len]) {
            Some(bound) => {
                let target: ModulePath = bound.iter().chain(&rest[1..]).cloned().collect();
                self.definer(&target, depth + 1).or(Some(found))
            }
            None => Some(found),
        }
    }
}

impl<'a> Module<'a> {
    fn new(
        module: &[String],
        source: &'a Source,
        is_module: impl Copy + Fn(&[String]) -> bool,
    ) -> Self {
        let named = source.paths.iter().map(|p| p.split("::").map(str::to_owned).collect());
        let named: Vec<ModulePath> = named.collect();
        let absolute = named.iter().filter_map(|path| absolute(module, path, is_module));
        let mut paths: Vec<ModulePath> = absolute.collect();
        let binding = |path: &ModulePath| Some((path.last()?.clone(), path.clone()));
        let bindings: HashMap<String, ModulePath> = paths.iter().filter_map(binding).collect();
        paths.extend(named.iter().filter_map(|path| {
            let bound = bindings.get(path.first()?)?;
            Some(bound.iter().chain(&path[1..]).cloned().collect())
        }));
        paths.sort();
        paths.dedup();
        Self { file: &source.path, paths, bindings }
    }
}

fn module_path(file: &str) -> ModulePath {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    let names = path.split('/').filter(|name| *name != "lib");
    names.map(str::to_owned).collect()
}

/// Returns the path from the crate's root, if it starts with `crate`, `super`, `self` or a child module.
fn absolute(
    module: &[String],
    path: &[String],
    is_module: impl Fn(&[String]) -> bool,
) -> Option<ModulePath> {
    let n_ups = path.iter().take_while(|name| *name == "super").count();
    let start = match path.first()?.as_str() {
        "crate" => return Some(path[1..].to_vec()),
        "self" => return Some(module.iter().chain(&path[1..]).cloned().collect()),
        "super" => &module[..module.len().checked_sub(n_ups)?],
        _ => module,
    };
    let joined: ModulePath = start.iter().chain(&path[n_ups..]).cloned().collect();
    let is_child = joined.len() > module.len() && is_module(&joined[..=module.len()]);
    (n_ups > 0 || is_child).then_some(joined)
}
