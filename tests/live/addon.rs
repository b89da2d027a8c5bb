//! The addon of the npm package, as a file. `tests/live/run_node.py` builds it with this test, so that it uses the core of the
//! other tests, and then loads it.

use std::env;
use std::fs;
use std::path::PathBuf;

#[test]
fn node_finds_the_addon() {
    // Cargo writes it into the folder of the test programs.
    let test = env::current_exe().expect("the path of this program");
    let names = ["libplimsoll_node.so", "libplimsoll_node.dylib", "plimsoll_node.dll"];
    let paths: Vec<PathBuf> =
        test.ancestors().flat_map(|folder| names.map(|name| folder.join(name))).collect();
    let path = paths.iter().find(|path| path.is_file()).expect("cargo builds the addon first");
    let content = fs::read(path).expect("the addon is readable");
    let entry = b"napi_register_module_v1";
    assert!(content.windows(entry.len()).any(|window| window == entry));
}
