//! Finds circles of imports.
//!
//! The children of a folder are its files and folders. A child imports another if any file inside it does. The `mod.rs` of
//! the folder does not count, because it declares them all.

use crate::imports::Import;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Children of a folder that import each other in a circle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Circle {
    /// The path of the folder below `src` or `src/core`; empty for these themselves.
    pub(crate) folder: String,
    /// Names of the children.
    pub(crate) children: Vec<String>,
    /// One import for each arrow between them: `FROM -> TO: FILE imports PATH`.
    pub(crate) arrows: Vec<String>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "circle in {}/: {}", self.folder, self.children.join(", "))?;
        self.arrows.iter().try_for_each(|arrow| write!(f, "\n    {arrow}"))
    }
}

/// Returns the circles between the children of each folder.
pub(crate) fn folder_circles(imports: &[Import<'_>]) -> Vec<Circle> {
    let mut folders: BTreeMap<&[String], BTreeMap<(&str, &str), &Import<'_>>> = BTreeMap::new();
    for import in imports {
        // Only in the folder that contains both, they are in different children.
        let n_common = import.from.iter().zip(import.to).take_while(|(a, b)| a == b).count();
        if let (Some(from), Some(to)) = (import.from.get(n_common), import.to.get(n_common)) {
            let arrows = folders.entry(&import.from[..n_common]).or_default();
            arrows.entry((from, to)).or_insert(import);
        }
    }
    let in_folder = |(folder, arrows): (&[String], BTreeMap<(&str, &str), &Import<'_>>)| {
        let found = circles(&arrows.keys().copied().collect()).into_iter();
        let circle = |children: BTreeSet<&str>| Circle {
            folder: folder.join("/"),
            children: children.iter().map(|child| (*child).to_owned()).collect(),
            arrows: arrows
                .iter()
                .filter(|((from, to), _)| children.contains(from) && children.contains(to))
                .map(|((from, to), import)| {
                    let path = import.path.join("::");
                    format!("{from} -> {to}: {} imports {path}", import.file)
                })
                .collect(),
        };
        found.map(circle).collect::<Vec<_>>()
    };
    folders.into_iter().flat_map(in_folder).collect()
}

/// Returns the circles between files.
pub(crate) fn file_circles<'a>(imports: &[Import<'a>]) -> Vec<BTreeSet<&'a str>> {
    let files: BTreeMap<&[String], &str> = imports.iter().map(|i| (i.from, i.file)).collect();
    // A file without imports is in no circle.
    let arrow = |import: &Import<'a>| Some((import.file, *files.get(import.to)?));
    circles(&imports.iter().filter_map(arrow).collect())
}

/// Returns the groups of more than one member in which the arrows lead from each member to every other.
fn circles<'a>(arrows: &BTreeSet<(&'a str, &'a str)>) -> Vec<BTreeSet<&'a str>> {
    let mut arrows = arrows.clone();
    // Members without arrows in or out are in no circle. Few others are left, so that their circles are found quickly.
    loop {
        let sources: BTreeSet<&str> = arrows.iter().map(|(from, _)| *from).collect();
        let targets: BTreeSet<&str> = arrows.iter().map(|(_, to)| *to).collect();
        let n_before = arrows.len();
        arrows.retain(|(from, to)| targets.contains(from) && sources.contains(to));
        if arrows.len() == n_before {
            break;
        }
    }
    let mut next: BTreeMap<&str, Vec<&'a str>> = BTreeMap::new();
    for (from, to) in &arrows {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&'a str, BTreeSet<&'a str>> =
        arrows.iter().map(|(from, _)| (*from, reachable(from, &next))).collect();
    let circle = |member: &&'a str| -> BTreeSet<&'a str> {
        let others = reached[member].iter().filter(|other| reached[*other].contains(member));
        others.copied().collect()
    };
    let all: BTreeSet<BTreeSet<&str>> = reached.keys().map(circle).collect();
    all.into_iter().filter(|circle| circle.len() > 1).collect()
}

fn reachable<'a>(start: &'a str, next: &BTreeMap<&str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(from) = open.pop() {
        for to in next.get(from).into_iter().flatten() {
            if reached.insert(*to) {
                open.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::Modules;
    use crate::source::Source;

    /// Returns the circles between files and between children of folders, of files with these texts.
    fn found(texts: &[(&str, &str)]) -> (Vec<Vec<String>>, Vec<Circle>) {
        let sources: Vec<Source> =
            texts.iter().map(|(path, text)| Source::new(*path, *text)).collect();
        let modules = Modules::new(&sources);
        let imports = modules.imports();
        let files = file_circles(&imports).into_iter();
        let owned = |circle: BTreeSet<&str>| circle.into_iter().map(str::to_owned).collect();
        (files.map(owned).collect(), folder_circles(&imports))
    }

    #[test]
    fn finds_circles_of_files_through_groups_modules_and_reexports() {
        let face = ("a/mod.rs", "mod b; mod c; pub use c::C;");
        let with =
            |import| found(&[face, ("a/b.rs", "use super::C; struct B;"), ("a/c.rs", import)]).0;
        let none = Vec::<Vec<String>>::new();
        assert_eq!(with("struct C;"), none);
        let circle = vec![vec!["a/b.rs".to_owned(), "a/c.rs".to_owned()]];
        for import in
            ["use super::b::B;", "use crate::a::{b::{B, D}};", "use crate::a::b; fn f() { b::g() }"]
        {
            assert_eq!(with(import), circle, "{import}");
        }
        // Tests and comments do not count.
        let tested = "// crate::a::b\n#[cfg(test)] mod tests { use crate::a::b::B; }";
        assert_eq!(with(tested), none);
    }

    #[test]
    fn finds_a_circle_of_folders_whose_files_have_none() {
        let texts = [
            ("a/mod.rs", "mod b; mod c;"),
            ("a/b/mod.rs", "pub mod low; pub mod high;"),
            ("a/b/low.rs", "pub struct Low;"),
            ("a/b/high.rs", "use crate::a::c::C;"),
            ("a/c.rs", "use super::b::low::Low; pub struct C;"),
        ];
        let (files, folders) = found(&texts);
        assert_eq!(files, Vec::<Vec<String>>::new());
        let expected = "circle in a/: b, c\n    b -> c: a/b/high.rs imports a::c::C\n    c -> b: a/c.rs imports a::b::low::Low";
        let [circle] = &folders[..] else { panic!("found {folders:?}") };
        assert_eq!(circle.to_string(), expected);
    }

    #[test]
    fn finds_circles_at_every_depth() {
        let texts = [
            ("a/b/c/d.rs", "use super::e::E; use crate::f::F; pub struct D;"),
            ("a/b/c/e.rs", "use super::d::D; pub struct E;"),
            ("f.rs", "use crate::a::b::c::e::E; pub struct F;"),
            ("a/b/c/mod.rs", "pub mod d; pub mod e;"),
            ("a/b/mod.rs", "pub mod c;"),
            ("a/mod.rs", "pub mod b;"),
        ];
        let folders: Vec<String> = found(&texts).1.into_iter().map(|c| c.folder).collect();
        assert_eq!(folders, ["", "a/b/c"]);
    }

    #[test]
    fn accepts_arrows_in_one_direction_and_those_from_and_to_the_declaring_module() {
        let texts = [
            ("a/mod.rs", "mod b; mod c; use b::B; pub struct A;"),
            ("a/b.rs", "use super::A; use super::c::C; pub struct B;"),
            ("a/c.rs", "use super::A; pub struct C;"),
        ];
        assert_eq!(found(&texts).1, []);
    }
}
