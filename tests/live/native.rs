//! The native module of the Python package, as a file. `tests/live/run_python.py` builds it with this test, so that it uses the
//! core of the other tests, and then loads it.

use std::env;
use std::fs;
use std::path::PathBuf;

/// Returns the content of the module, which cargo writes beside the folder of the test programs.
fn module() -> Vec<u8> {
    let test = env::current_exe().expect("the path of this program");
    let names = ["lib_native.so", "lib_native.dylib", "_native.dll"];
    let paths: Vec<PathBuf> =
        test.ancestors().flat_map(|folder| names.map(|name| folder.join(name))).collect();
    let path = paths.iter().find(|path| path.is_file()).expect("cargo builds the module first");
    fs::read(path).expect("the module is readable")
}

fn contains(content: &[u8], text: &str) -> bool {
    content.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn python_finds_the_module() {
    assert!(contains(&module(), "PyInit__native"));
}

/// One module serves every version of Python: the interpreter that loads it provides Python's functions.
#[test]
fn the_module_needs_no_library_of_python() {
    assert!(!contains(&module(), "libpython"));
}
