//! Compressed session files (gzip, Zstandard), detected by their first bytes.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

/// No text shrinks further than to a part in this; what claims to is made to fill memories.
const MOST_TIMES: u64 = 400;
/// Up to here anything may come out, bytes.
const HARMLESS: u64 = 64 << 20;

/// What a stream holds.
pub(super) struct Unpacked<'a> {
    /// Its bytes, unpacked.
    pub(super) bytes: Box<dyn Read + 'a>,
    /// It was compressed: how many bytes there are nobody knows.
    pub(super) was_packed: bool,
}

/// What a stream holds: itself, unless it is compressed.
///
/// # Errors
/// Those of the stream.
pub(super) fn unpacked<'a>(mut stream: impl Read + 'a) -> io::Result<Unpacked<'a>> {
    let mut start = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut start)?;
    let (is_packed, is_gzip) = (is_packed(&start), is_gzip(&start));
    let stream = Cursor::new(start).chain(stream);
    if !is_packed {
        return Ok(Unpacked {
            bytes: Box::new(stream),
            was_packed: false,
        });
    }
    let packed = Rc::new(Cell::new(0));
    let counted = Counted {
        stream,
        n: Rc::clone(&packed),
    };
    let stream = BufReader::with_capacity(64 << 10, counted);
    let unpacking: Box<dyn Read + 'a> = if is_gzip {
        Box::new(MultiGzDecoder::new(stream))
    } else {
        Box::new(Frames {
            stream,
            frame: FrameDecoder::new(),
        })
    };
    Ok(Unpacked {
        bytes: Box::new(Bounded {
            unpacking,
            packed,
            n: 0,
        }),
        was_packed: true,
    })
}

/// Whether what begins so is compressed.
pub(super) fn is_packed(start: &[u8]) -> bool {
    is_gzip(start) || is_zstd(start)
}

fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(&[0x1f, 0x8b])
}

/// A frame, or one of those (`*M` and the like) that hold no content.
fn is_zstd(start: &[u8]) -> bool {
    matches!(
        start,
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]
    )
}

/// Counts what is read.
struct Counted<R> {
    stream: R,
    n: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        self.n.set(self.n.get() + n as u64);
        Ok(n)
    }
}

/// Stops where far more comes out than went in.
struct Bounded<'a> {
    unpacking: Box<dyn Read + 'a>,
    packed: Rc<Cell<u64>>,
    n: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.unpacking.read(buffer)?;
        self.n += n as u64;
        if self.n > HARMLESS && self.n / MOST_TIMES > self.packed.get() {
            return Err(io::Error::other(
                "it unpacks to over 400 times its size, which no session does",
            ));
        }
        Ok(n)
    }
}

/// The frames of a Zstandard stream, one behind the other.
struct Frames<R> {
    stream: R,
    /// The frame that is being read, finished between two.
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
            self.check_sum()?;
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

    /// Compares what was read with the frame's own sum, where it has one.
    fn check_sum(&self) -> io::Result<()> {
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
    fn what_is_not_compressed_is_itself() {
        for plain in [&b""[..], b"{", b"(", b"{\"a\":1}\n"] {
            assert_eq!(read(plain).unwrap(), plain);
        }
    }

    #[test]
    fn parts_that_were_appended_are_read_one_behind_the_other() {
        let of_gzip = [gzip(b"one ").unwrap(), gzip(b"two").unwrap()].concat();
        assert_eq!(read(&of_gzip).unwrap(), b"one two");
        let skipped = [&[0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let of_zstd = [skipped.clone(), zstd(b"one "), skipped, zstd(b"two")].concat();
        assert_eq!(read(&of_zstd).unwrap(), b"one two");
    }

    #[test]
    fn a_file_cut_short_or_changed_is_an_error() {
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
    fn what_unpacks_to_hundreds_of_times_its_size_is_refused() {
        let spaces = vec![b' '; 80 << 20];
        for bomb in [gzip(&spaces).unwrap(), zstd(&spaces)] {
            let refused = read(&bomb).unwrap_err().to_string();
            assert!(refused.contains("400 times"), "{refused}");
        }
    }
}
