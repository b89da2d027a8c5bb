//! Compressed databases.

use super::{described, fixture, make, opened};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn database(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("opencode.db");
    let (export, _) = fixture("opencode/export.json")?;
    make::opencode(&path, &[("ses_1", 1_000, &export), ("ses_2", 2_000, &export)]).ok()?;
    Some(path)
}

#[test]
fn a_compressed_database_is_read_like_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let plain = database(folder.path()).unwrap();
    let bytes = fs::read(&plain).unwrap();
    let zstd = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
    for (name, packed) in [("a.db.gz", gzip(&bytes).unwrap()), ("a.sqlite.zst", zstd)] {
        let path = folder.path().join(name);
        fs::write(&path, packed).unwrap();
        let loaded = opened(&path, 1).unwrap();
        assert_eq!(
            described(&loaded.case.session),
            described(&opened(&plain, 1).unwrap().case.session)
        );
        assert_eq!(loaded.conversations.len(), 2);
        assert_eq!(loaded.path.as_ref(), Some(&path));
    }
}

#[test]
fn rejects_truncated_and_oversized_compressed_databases() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(database(folder.path()).unwrap()).unwrap();
    let path = folder.path().join("a.db.gz");
    let packed = gzip(&bytes).unwrap();
    fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let refused = opened(&path, 0).unwrap_err();
    assert!(refused.contains("cannot decompress") && refused.contains("a.db.gz"), "{refused}");
    let zeros = gzip(&vec![0; 1 << 20]).unwrap();
    fs::write(&path, [packed, zeros.repeat(90)].concat()).unwrap();
    let refused = opened(&path, 0).unwrap_err();
    assert!(refused.contains("400 times"), "{refused}");
}
