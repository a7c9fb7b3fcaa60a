//! The text of files: unpacked where it is packed, and in UTF-8 whatever its encoding.

use std::fs::File;
use std::io::{self, BufReader, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, UTF_8};
use flate2::read::MultiGzDecoder;
use syrch_core::imports::{Encoding, ReadOptions};

use crate::error::ImportError;
use crate::sources::Source;

/// Bytes that are read at once.
pub(crate) const BUFFER: usize = 64 << 10;

/// Opens the text of a file. Its first bytes tell whether it is packed by gzip, and whether it is
/// UTF-16.
pub(crate) fn open(source: &Source, options: &ReadOptions) -> Result<Box<dyn Read>, ImportError> {
    let (mut head, rest) = unpack(source)?;
    let marked = encoding_rs::Encoding::for_bom(&head);
    if let Some((_, mark)) = marked {
        head.drain(..mark);
    }
    let marked = marked.map(|(encoding, _)| encoding);
    let encoding =
        marked.or(options.encoding.map(Encoding::decoding)).filter(|found| *found != UTF_8);
    let bytes = io::Cursor::new(head).chain(rest);
    Ok(match encoding {
        None => Box::new(bytes),
        Some(encoding) => Box::new(Decoded::new(bytes, encoding)),
    })
}

/// The first bytes of a file, and the rest of them, both unpacked.
fn unpack(source: &Source) -> Result<(Vec<u8>, Box<dyn Read>), ImportError> {
    let io = |error: io::Error| ImportError::io(&source.name, &error);
    let mut file = File::open(&source.path).map_err(io)?;
    let head = head(&mut file, 3).map_err(io)?;
    if !head.starts_with(&[0x1f, 0x8b]) {
        return Ok((head, Box::new(file)));
    }
    let packed = BufReader::with_capacity(BUFFER, io::Cursor::new(head).chain(file));
    let mut bytes = MultiGzDecoder::new(packed);
    let head = self::head(&mut bytes, 3).map_err(io)?;
    Ok((head, Box::new(bytes)))
}

/// Returns at most so many of the next bytes.
fn head(bytes: &mut impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(most).read_to_end(&mut head)?;
    Ok(head)
}

/// The message about a text that is not UTF-8, with the encoding that it is likely to have.
pub(crate) fn not_utf8(source: &Source, wrong: &[u8]) -> String {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    if let Ok((begin, mut rest)) = unpack(source) {
        detector.feed(&begin, false);
        detector.feed(&head(&mut rest, BUFFER as u64).unwrap_or_default(), false);
    }
    detector.feed(wrong, true);
    let likely = detector.guess(None, Utf8Detection::Deny).name().to_ascii_lowercase();
    format!("the text is not UTF-8, but probably {likely}: `--encoding {likely}` reads it")
}

/// The message about a text that seems to be UTF-16 without its mark; `None` if it does not.
pub(crate) fn detect_utf16(head: &[u8]) -> Option<String> {
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let half = head.len() / 2;
    let order = match (zeros(0), zeros(1)) {
        (_, odd) if half > 0 && odd * 2 > half => "le",
        (even, _) if half > 0 && even * 2 > half => "be",
        _ => return None,
    };
    Some(format!(
        "the text is probably UTF-16 without its mark: `--encoding utf-16{order}` reads it"
    ))
}

/// Bytes of another encoding as UTF-8.
struct Decoded<R> {
    bytes: R,
    decoder: Decoder,
    /// Bytes that were read, from `at` on not yet decoded.
    input: Vec<u8>,
    at: usize,
    is_last: bool,
    /// Text that was decoded, from `taken` on not yet given.
    output: String,
    taken: usize,
    is_finished: bool,
}

impl<R: Read> Decoded<R> {
    fn new(bytes: R, encoding: &'static encoding_rs::Encoding) -> Self {
        Self {
            bytes,
            decoder: encoding.new_decoder_without_bom_handling(),
            input: Vec::new(),
            at: 0,
            is_last: false,
            output: String::with_capacity(BUFFER),
            taken: 0,
            is_finished: false,
        }
    }

    fn decode(&mut self) -> io::Result<()> {
        self.output.clear();
        self.taken = 0;
        if self.at >= self.input.len() && !self.is_last {
            self.input.resize(BUFFER / 4, 0);
            let read = self.bytes.read(&mut self.input)?;
            self.input.truncate(read);
            self.at = 0;
            self.is_last = read == 0;
        }
        let (result, read) = self.decoder.decode_to_string_without_replacement(
            &self.input[self.at..],
            &mut self.output,
            self.is_last,
        );
        self.at += read;
        match result {
            DecoderResult::Malformed(..) => {
                let name = self.decoder.encoding().name();
                Err(io::Error::other(format!("the text is not {name}")))
            }
            DecoderResult::InputEmpty => {
                self.is_finished = self.is_last;
                Ok(())
            }
            DecoderResult::OutputFull => Ok(()),
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken >= self.output.len() && !self.is_finished {
            self.decode()?;
        }
        let left = &self.output.as_bytes()[self.taken..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.taken += count;
        Ok(count)
    }
}
