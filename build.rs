//! Compresses the sample sessions, which the window offers as examples: 3.2 MB become 0.6 MB of the executable.

use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

const SESSIONS: &str = "sample_sessions";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={SESSIONS}");
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for file in fs::read_dir(SESSIONS)? {
        let file = file?;
        let mut name = file.file_name();
        name.push(".gz");
        let compressed = fs::File::create(folder.join(name))?;
        let mut compressed = GzEncoder::new(compressed, Compression::best());
        compressed.write_all(&fs::read(file.path())?)?;
        compressed.finish()?;
    }
    Ok(())
}
