//! Compressed session files (gzip, Zstandard), detected by their first bytes.

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

/// Maximum compression ratio of a session. A higher one is a decompression bomb.
///
/// Measured with `zstd -19` on 57 session files: the median ratio is 8, the highest 61 (spans that repeat the
/// conversation).
const MAX_RATIO: u64 = 400;
/// Decompressed bytes up to which any ratio is accepted: small enough to do no harm.
const HARMLESS: u64 = 64 << 20;

/// A stream after decompression.
pub(crate) struct Unpacked<'a> {
    /// The decompressed bytes.
    pub(crate) bytes: Box<dyn Read + 'a>,
    /// The stream was compressed, so that the number of bytes is unknown.
    pub(crate) was_packed: bool,
}

/// Decompresses a stream if it is compressed.
///
/// # Errors
/// Returns an error if the start of the stream cannot be read.
pub(crate) fn unpacked<'a>(mut stream: impl Read + 'a) -> io::Result<Unpacked<'a>> {
    let mut start = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut start)?;
    let (is_packed, is_gzip) = (is_packed(&start), is_gzip(&start));
    let stream = Cursor::new(start).chain(stream);
    if !is_packed {
        return Ok(Unpacked { bytes: Box::new(stream), was_packed: false });
    }
    let packed = Rc::new(Cell::new(0));
    let counted = CountedReader { stream, n: Rc::clone(&packed) };
    let stream = BufReader::with_capacity(64 << 10, counted);
    let unpacking: Box<dyn Read + 'a> = if is_gzip {
        Box::new(MultiGzDecoder::new(stream))
    } else {
        Box::new(Frames { stream, frame: FrameDecoder::new() })
    };
    Ok(Unpacked { bytes: Box::new(Bounded { unpacking, packed, n: 0 }), was_packed: true })
}

/// Returns true if a stream with this start is compressed.
pub(super) fn is_packed(start: &[u8]) -> bool {
    is_gzip(start) || is_zstd(start)
}

fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(&[0x1f, 0x8b])
}

/// Returns true for a Zstandard frame or a skippable frame (`*M` and similar).
fn is_zstd(start: &[u8]) -> bool {
    matches!(start, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Compression of a file in an archive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Packing {
    Stored,
    Deflate,
    Zstandard,
}

/// Decompresses a file of an archive, which has `packed_len` bytes.
pub(super) fn unpacked_member<'a>(
    stream: impl BufRead + 'a,
    packed_len: u64,
    packing: Packing,
) -> Box<dyn Read + 'a> {
    let packed = Rc::new(Cell::new(packed_len));
    let unpacking: Box<dyn Read + 'a> = match packing {
        Packing::Stored => return Box::new(stream),
        Packing::Deflate => Box::new(DeflateDecoder::new(stream)),
        Packing::Zstandard => Box::new(Frames { stream, frame: FrameDecoder::new() }),
    };
    Box::new(Bounded { unpacking, packed, n: 0 })
}

/// A reader that counts its bytes.
struct CountedReader<R> {
    stream: R,
    n: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        self.n.set(self.n.get() + n as u64);
        Ok(n)
    }
}

/// A decompressor that fails above [`MAX_RATIO`].
struct Bounded<'a> {
    unpacking: Box<dyn Read + 'a>,
    packed: Rc<Cell<u64>>,
    n: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.unpacking.read(buffer)?;
        self.n += n as u64;
        if self.n > HARMLESS && self.n / MAX_RATIO > self.packed.get() {
            return Err(io::Error::other(
                "it decompresses to over 400 times its size, which no session does",
            ));
        }
        Ok(n)
    }
}

/// Decoder of consecutive Zstandard frames.
struct Frames<R> {
    stream: R,
    /// The current frame; finished before the first and between two frames.
    frame: FrameDecoder,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const ONE: BlockDecodingStrategy = BlockDecodingStrategy::UptoBlocks(1);
        while self.frame.can_collect() == 0 {
            if !self.frame.is_finished() {
                let decoded = self.frame.decode_blocks(&mut self.stream, ONE);
                decoded.map_err(io::Error::other)?;
                continue;
            }
            self.verify_checksum()?;
            if self.stream.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.next_frame()?;
        }
        self.frame.read(buffer)
    }
}

impl<R: BufRead> Frames<R> {
    fn next_frame(&mut self) -> io::Result<()> {
        use FrameDecoderError::ReadFrameHeaderError as Header;
        match self.frame.reset(&mut self.stream) {
            Err(Header(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let mut skipped = self.stream.by_ref().take(u64::from(length));
                io::copy(&mut skipped, &mut io::sink()).map(|_| ())
            }
            read => read.map_err(io::Error::other),
        }
    }

    /// Verifies the checksum of the last frame, if it has one.
    fn verify_checksum(&self) -> io::Result<()> {
        let Some(expected) = self.frame.get_checksum_from_data() else {
            return Ok(());
        };
        if self.frame.get_calculated_checksum() == Some(expected) {
            return Ok(());
        }
        Err(io::Error::other("its checksum does not match"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write as _;

    fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes)?;
        encoder.finish()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut read = Vec::new();
        unpacked(bytes)?.bytes.read_to_end(&mut read)?;
        Ok(read)
    }

    #[test]
    fn an_uncompressed_stream_is_unchanged() {
        for plain in [&b""[..], b"{", b"(", b"{\"a\":1}\n"] {
            assert_eq!(read(plain).unwrap(), plain);
        }
    }

    #[test]
    fn appended_members_and_frames_are_read_in_order() {
        let of_gzip = [gzip(b"one ").unwrap(), gzip(b"two").unwrap()].concat();
        assert_eq!(read(&of_gzip).unwrap(), b"one two");
        let skipped = [&[0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let of_zstd = [skipped.clone(), zstd(b"one "), skipped, zstd(b"two")].concat();
        assert_eq!(read(&of_zstd).unwrap(), b"one two");
    }

    #[test]
    fn a_truncated_or_changed_file_is_an_error() {
        let text = b"a conversation that was cut, then cut again, and again";
        let (of_gzip, of_zstd) = (gzip(text).unwrap(), zstd(text));
        for whole in [&of_gzip, &of_zstd] {
            for end in 4..whole.len() {
                assert!(read(&whole[..end]).is_err(), "{end} of {}", whole.len());
            }
        }
        let mut changed = of_gzip;
        let middle = changed.len() - 6;
        changed[middle] ^= 1;
        assert!(read(&changed).is_err());
    }

    #[test]
    fn decompression_bombs_are_rejected() {
        // A stream of ten members or frames.
        let spaces = vec![b' '; 8 << 20];
        for part in [gzip(&spaces).unwrap(), zstd(&spaces)] {
            let bomb = part.repeat(10);
            let error = read(&bomb).unwrap_err().to_string();
            assert!(error.contains("400 times"), "{error}");
        }
    }
}
