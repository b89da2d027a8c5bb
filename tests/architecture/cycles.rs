//! Finds import cycles between files.
//!
//! An import leads to the file that defines the name, also through re-exports. Imports between a module and the files of
//! its folder do not count, because it declares them.

use crate::source::{code_of, paths_of};
use std::collections::{BTreeMap, BTreeSet};

/// A module path below `crate`, as if all our crates were one, such as `["app", "cost"]`.
type ModulePath = Vec<String>;

/// A source file.
struct Module {
    file: String,
    /// Paths in the code, absolute where they start at a known module.
    paths: Vec<ModulePath>,
    /// The last name of each path, as an import binds it.
    bindings: BTreeMap<String, ModulePath>,
}

/// Returns the import cycles of more than one file, each sorted. `files` are paths below the root of a crate, with their texts.
pub(crate) fn cycles(files: &[(String, String)]) -> Vec<Vec<String>> {
    let modules = modules(files);
    let imports: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        modules.keys().map(|path| (path, imports_of(path, &modules))).collect();
    let reached: BTreeMap<_, _> =
        imports.keys().map(|path| (*path, reachable(path, &imports))).collect();
    let cycle = |path: &ModulePath| -> Vec<String> {
        let others = reached[path].iter();
        let mutual = others.filter(|other| reached[*other].contains(path));
        let mut cycle: Vec<String> = mutual.map(|other| modules[*other].file.clone()).collect();
        cycle.sort();
        cycle
    };
    let all: BTreeSet<Vec<String>> = modules.keys().map(cycle).collect();
    all.into_iter().filter(|cycle| cycle.len() > 1).collect()
}

fn modules(files: &[(String, String)]) -> BTreeMap<ModulePath, Module> {
    let known: BTreeSet<ModulePath> = files.iter().map(|(file, _)| module_path(file)).collect();
    let module = |(file, text): &(String, String)| {
        let path = module_path(file);
        let named = paths_of(&code_of(text));
        let named = named.iter().map(|p| p.split("::").map(str::to_owned).collect());
        let named: Vec<ModulePath> = named.collect();
        let absolute: Vec<ModulePath> =
            named.iter().filter_map(|p| absolute(&path, p, &known)).collect();
        let bindings: BTreeMap<String, ModulePath> =
            absolute.iter().filter_map(|p| Some((p.last()?.clone(), p.clone()))).collect();
        let through_bindings = named.iter().filter_map(|p| {
            let bound = bindings.get(p.first()?)?;
            Some(bound.iter().chain(&p[1..]).cloned().collect())
        });
        let paths = absolute.iter().cloned().chain(through_bindings).collect();
        let file = file.clone();
        (path, Module { file, paths, bindings })
    };
    files.iter().map(module).collect()
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
    known: &BTreeSet<ModulePath>,
) -> Option<ModulePath> {
    let n_ups = path.iter().take_while(|name| *name == "super").count();
    let start = match path.first()?.as_str() {
        "crate" => return Some(path[1..].to_vec()),
        "self" => return Some(module.iter().chain(&path[1..]).cloned().collect()),
        "super" => &module[..module.len().checked_sub(n_ups)?],
        _ => module,
    };
    let joined: ModulePath = start.iter().chain(&path[n_ups..]).cloned().collect();
    let is_child = joined.len() > module.len() && known.contains(&joined[..=module.len()]);
    (n_ups > 0 || is_child).then_some(joined)
}

/// Returns the modules whose names a module imports.
fn imports_of<'a>(
    path: &ModulePath,
    modules: &'a BTreeMap<ModulePath, Module>,
) -> BTreeSet<&'a ModulePath> {
    let module = &modules[path];
    let imported = module.paths.iter().filter_map(|p| definer(p, modules, 0));
    imported.filter(|other| !other.starts_with(path)).collect()
}

/// Returns the module that defines a name, following re-exports.
fn definer<'a>(
    path: &[String],
    modules: &'a BTreeMap<ModulePath, Module>,
    depth: usize,
) -> Option<&'a ModulePath> {
    /// Maximum number of re-exports to follow.
    const MAX_DEPTH: usize = 6;
    let len = (1..=path.len()).take_while(|len| modules.contains_key(&path[..*len]));
    let len = len.last()?;
    let (found, module) = modules.get_key_value(&path[..len])?;
    let rest = &path[len..];
    let bound = rest.first().and_then(|name| module.bindings.get(name));
    match bound.filter(|bound| depth < MAX_DEPTH && bound[..] != path[..=len]) {
        Some(bound) => {
            let target: ModulePath = bound.iter().chain(&rest[1..]).cloned().collect();
            definer(&target, modules, depth + 1).or(Some(found))
        }
        None => Some(found),
    }
}

fn reachable<'a>(
    start: &'a ModulePath,
    imports: &BTreeMap<&'a ModulePath, BTreeSet<&'a ModulePath>>,
) -> BTreeSet<&'a ModulePath> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(next) = open.pop() {
        for other in &imports[next] {
            if reached.insert(*other) {
                open.push(other);
            }
        }
    }
    reached
}

#[test]
fn finds_cycles_through_groups_modules_and_reexports() {
    let files = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
        let owned = texts.iter().map(|(f, t)| ((*f).to_owned(), (*t).to_owned()));
        owned.collect()
    };
    let cycle = |texts: &[(&str, &str)]| cycles(&files(texts));
    let none = Vec::<Vec<String>>::new();
    let face = ("a/mod.rs", "mod b; mod c; pub use c::C;");
    assert_eq!(cycle(&[face, ("a/b.rs", "use super::C;"), ("a/c.rs", "struct C;")]), none);
    let found = vec![vec!["a/b.rs".to_owned(), "a/c.rs".to_owned()]];
    for import in
        ["use super::b::B;", "use crate::a::{b::{B, D}};", "use crate::a::b; fn f() { b::g() }"]
    {
        let texts = [face, ("a/b.rs", "use super::C; struct B;"), ("a/c.rs", import)];
        assert_eq!(cycle(&texts), found, "{import}");
    }
    // Tests and comments do not count.
    let tested = "// crate::a::b\n#[cfg(test)] mod tests { use crate::a::b::B; }";
    assert_eq!(cycle(&[face, ("a/b.rs", "use super::C;"), ("a/c.rs", tested)]), none);
}
