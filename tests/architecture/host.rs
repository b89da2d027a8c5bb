//! Builds and runs a program that depends on `plimsoll-core` alone, in which cargo joins no other features.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_host_keeps_its_own_json() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The package is copied, because cargo writes a lock file beside it.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("host");
    fs::create_dir_all(&folder).expect("the folder can be created");
    let manifest = fs::read_to_string(root.join("tests/host/Cargo.toml")).expect("the manifest");
    let core = root.join("src/core").to_string_lossy().replace('\\', "/");
    let manifest = manifest.replace("../../src/core", &core);
    fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest can be written");
    for file in ["tests/host/main.rs", "Cargo.lock"] {
        let name = Path::new(file).file_name().expect("a name");
        fs::copy(root.join(file), folder.join(name)).expect("the file can be copied");
    }
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.join("target"))
        .arg("--")
        .arg(root.join("sample_sessions/handoff.json"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
