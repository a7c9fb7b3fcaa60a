//! Messages between the host and the worker process of a plugin. Each is a frame: its length as
//! four bytes, the lowest first, and as many bytes. Values of ports are sent as the contract has
//! them; the arguments and the result of a role are JSON, as in a journal.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use postcard::Deserializer;
use postcard::de_flavors::Flavor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use syrch_core::roles::Role;
use syrch_core::{Limits, RoleError};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::forward::PortCall;
use crate::job::{CallLimits, Description, RoleCall, RoleResult};

/// The most bytes of a message to a worker.
pub(crate) const MAX_TO_WORKER: usize = 256 << 20;

/// The most bytes of a message from a worker: what a guest can pass at once, and a head.
pub(crate) fn max_to_host(limits: &Limits) -> usize {
    limits.hostcall_bytes.saturating_add(1 << 20)
}

/// The most bytes that the values of a message from a worker may take in memory, about.
pub(crate) fn max_decoded(limits: &Limits) -> usize {
    limits.hostcall_bytes.saturating_mul(4)
}

/// Bytes in memory for each value of a message, such as an empty string of one byte.
const VALUE: usize = size_of::<String>();

/// The first message to a worker.
#[derive(Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) label: String,
    pub(crate) roles: Vec<Role>,
    pub(crate) limits: Limits,
}

/// A further message to a worker.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// Starts a [`Job`], which is JSON.
    Start { id: u64, job: String },
    /// Answers the last port call of a job.
    Answer { id: u64, answer: Vec<u8> },
    /// Ends a job. The worker says when it has ended, too.
    Cancel { id: u64 },
}

/// A message from a worker.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToHost {
    /// The worker has given up all rights, and takes jobs.
    Ready,
    /// The worker cannot take jobs: the reason.
    Unable(String),
    /// The guest of a job calls a port, and has used so much CPU time.
    Ask { id: u64, cpu: Duration, call: Box<PortCall> },
    /// A job has ended with a [`Done`], which is JSON.
    Done { id: u64, done: String },
}

/// Work for a plugin, in a store of its own.
#[derive(Serialize, Deserialize)]
pub(crate) enum Job<'a> {
    /// Asks the plugin for its description.
    Describe,
    /// Asks the plugin whether it accepts these settings.
    Configure(String),
    /// Calls a role.
    Role {
        limits: CallLimits,
        /// The settings of the plugin.
        config: Cow<'a, str>,
        /// The handles of the results in the call, in its order.
        handles: Vec<u32>,
        call: Box<Cow<'a, RoleCall<'a>>>,
    },
    /// Tries what a worker must not be able to do.
    Probe,
}

/// The end of a job.
#[derive(Serialize, Deserialize)]
pub(crate) struct Done {
    /// The CPU time of the guest.
    pub(crate) cpu: Duration,
    /// The most linear memory that the guest had, in bytes.
    pub(crate) memory_peak: u64,
    /// The text that the guest printed.
    pub(crate) printed: String,
    pub(crate) ended: Result<Ended, Unfinished>,
}

impl Done {
    /// The end of a job that ran no guest, or whose guest used nothing that counts.
    pub(crate) fn new(ended: Result<Ended, Unfinished>) -> Self {
        Self { cpu: Duration::ZERO, memory_peak: 0, printed: String::new(), ended }
    }
}

/// The result of a [`Job`].
#[derive(Serialize, Deserialize)]
pub(crate) enum Ended {
    Described(Description),
    Configured,
    Returned(RoleResult),
    /// The attempts, each with its error; `None` if it was possible.
    Probed(Vec<(String, Option<String>)>),
}

/// The reason why a job has no result.
#[derive(Serialize, Deserialize)]
pub(crate) enum Unfinished {
    Failed(RoleError),
    /// An export has another type than the contract: its name, and the difference.
    Export(String, String),
    /// The plugin's description is unusable.
    About(String),
    /// The worker is too busy for the job: the reason.
    Unavailable(String),
    Cancelled,
}

/// Makes the frame of a message.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let frame = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    with_length(frame)
}

/// Makes the frame of a message in JSON.
pub(crate) fn json_frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    with_length(frame)
}

fn with_length(mut frame: Vec<u8>) -> io::Result<Vec<u8>> {
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// Reads a message whose values take at most so many bytes in memory, about: a list of many empty
/// values is short in a message.
pub(crate) fn decode<T: DeserializeOwned>(body: &[u8], most: usize) -> io::Result<T> {
    let mut deserializer = Deserializer::from_flavor(Bounded { rest: body, left: most });
    let message = T::deserialize(&mut deserializer);
    let rest = message.and_then(|message| Ok((message, deserializer.finalize()?)));
    match rest {
        Ok((message, [])) => Ok(message),
        Ok(_) => Err(invalid("a message is longer than it should be")),
        Err(error) => Err(invalid(&format!("a message cannot be read: {error}"))),
    }
}

/// Reads JSON whose values take at most so many bytes in memory, about. Each value but the first of
/// a list or an object stands behind a comma.
pub(crate) fn decode_json<T: DeserializeOwned>(text: &str, most: usize) -> io::Result<T> {
    let mut bytes = text.len();
    let mut is_text = false;
    let mut is_escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => bytes = bytes.saturating_add(VALUE),
            _ => {}
        }
    }
    match bytes <= most {
        true => serde_json::from_str(text).map_err(io::Error::from),
        false => Err(invalid("a message has too many values")),
    }
}

/// The bytes of a message, of which only so many values are read. A value is at least one byte
/// that is read for itself; texts are read whole.
struct Bounded<'de> {
    rest: &'de [u8],
    left: usize,
}

impl Bounded<'_> {
    fn charge(&mut self, bytes: usize) -> postcard::Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(postcard::Error::SerdeDeCustom)?;
        Ok(())
    }
}

impl<'de> Flavor<'de> for Bounded<'de> {
    type Remainder = &'de [u8];
    type Source = &'de [u8];

    fn pop(&mut self) -> postcard::Result<u8> {
        self.charge(VALUE)?;
        let (first, rest) =
            self.rest.split_first().ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.rest = rest;
        Ok(*first)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }

    fn try_take_n(&mut self, count: usize) -> postcard::Result<&'de [u8]> {
        self.charge(count)?;
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.rest = rest;
        Ok(taken)
    }

    fn finalize(self) -> postcard::Result<&'de [u8]> {
        Ok(self.rest)
    }
}

pub(crate) fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Reads the body of the next frame. `None` at the end of the stream.
pub(crate) async fn read_frame(
    stream: &mut (impl AsyncRead + Unpin),
    most: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length).await {
        Ok(_) => {}
        Err(error) if is_end(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length as usize > most {
        return Err(invalid("a message is too long"));
    }
    // The memory is taken as the bytes come.
    let mut body = Vec::new();
    match stream.take(length.into()).read_to_end(&mut body).await {
        Ok(_) => {}
        Err(error) if is_end(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    Ok((body.len() == length as usize).then_some(body))
}

/// Returns whether the other process has closed the stream, possibly before it read all of it.
fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_many_empty_values_is_refused_before_they_take_memory() {
        let limits = Limits::default();
        let texts = vec![String::new(); limits.hostcall_bytes / 2];
        let call = Box::new(PortCall::RunAll { texts });
        let frame = frame(&ToHost::Ask { id: 1, cpu: Duration::ZERO, call }).unwrap();
        assert!(frame.len() < max_to_host(&limits));
        let read = decode::<ToHost>(&frame[4..], max_decoded(&limits));
        let error = read.err().unwrap();
        assert!(error.to_string().starts_with("a message cannot be read"), "{error}");
        assert!(decode::<ToHost>(&frame[4..], usize::MAX).is_ok());
    }

    #[test]
    fn a_result_of_many_empty_values_is_refused_before_they_take_memory() {
        let limits = Limits::default();
        let most = max_decoded(&limits);
        let many = vec![(String::new(), None); limits.hostcall_bytes / 10];
        let many = serde_json::to_string(&Done::new(Ok(Ended::Probed(many)))).unwrap();
        assert!(many.len() < max_to_host(&limits));
        let error = decode_json::<Done>(&many, most).err().unwrap();
        assert!(error.to_string().contains("too many values"), "{error}");
        assert!(decode_json::<Done>(&many, usize::MAX).is_ok());
        // What stands in a text is no value.
        let text = ",[{\\".repeat(1 << 20);
        let long = serde_json::to_string(&Done::new(Err(Unfinished::About(text)))).unwrap();
        assert!(decode_json::<Done>(&long, most).is_ok());
        assert!(decode_json::<Done>("{", most).is_err());
    }

    #[test]
    fn a_message_is_read_whole_and_nothing_after_it() {
        let call = Box::new(PortCall::Check { text: "SELECT 1".repeat(1 << 20) });
        let frame = frame(&ToHost::Ask { id: 7, cpu: Duration::ZERO, call }).unwrap();
        let read = decode(&frame[4..], max_decoded(&Limits::default()));
        let Ok(ToHost::Ask { id: 7, call, .. }) = read else { panic!("another message") };
        let PortCall::Check { text } = *call else { panic!("another call") };
        assert_eq!(text.len(), 8 << 20);
        for wrong in [&frame[4..frame.len() - 1], &[&frame[4..], &[0]].concat()] {
            assert!(decode::<ToHost>(wrong, usize::MAX).is_err());
        }
    }
}
