//! The connection to a server and the session there, whose settings make a statement mean what the
//! guard read in it.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::ExposeSecret;
use syrch_core::ports::DatabaseError;
use tonic::metadata::{Ascii, MetadataKey, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

use crate::config::Target;
use crate::error::Failure;
use crate::proto::spark_connect as proto;
use proto::spark_connect_service_client::SparkConnectServiceClient;

/// The time limit for connecting to a server.
const CONNECTING: Duration = Duration::from_secs(10);
/// The time limit for opening a session, for which a server that has just started loads much, and
/// for ending it.
const OPENING: Duration = Duration::from_secs(30);
/// The interval at which a silent connection is checked while a statement runs, and the time limit
/// for the answer.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(20));
/// The size limit of the headers of an answer, in bytes; they hold the server's errors.
const HEADERS: u32 = 64 << 10;

/// The settings of each session.
const SETTINGS: [(&str, &str); 8] = [
    // `${env:HOME}` in a statement would become a value of the server's.
    ("spark.sql.variable.substitute", "false"),
    // Texts and names as the guard reads them.
    ("spark.sql.parser.escapedStringLiterals", "false"),
    ("spark.sql.ansi.doubleQuotedIdentifiers", "false"),
    ("spark.sql.parser.quotedRegexColumnNames", "false"),
    // No file is a table by its path.
    ("spark.sql.runSQLOnFiles", "false"),
    // Division by zero and overflow are errors, in place of NULL and of a wrong number.
    ("spark.sql.ansi.enabled", "true"),
    // Batches that are small and can be read.
    ("spark.sql.execution.arrow.maxRecordsPerBatch", "256"),
    ("spark.sql.execution.arrow.compression.codec", "none"),
];

pub(crate) type Client = SparkConnectServiceClient<InterceptedService<Channel, Headers>>;

/// Adds the token and other headers to each call.
#[derive(Clone)]
pub(crate) struct Headers(Vec<(MetadataKey<Ascii>, MetadataValue<Ascii>)>);

impl Headers {
    fn for_target(target: &Target) -> Result<Self, DatabaseError> {
        fn header_error(name: &str) -> DatabaseError {
            DatabaseError::Address { reason: format!("`{name}` cannot be sent as a header") }
        }
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &str| {
            let key = MetadataKey::from_bytes(name.as_bytes()).map_err(|_| header_error(name))?;
            let mut value = MetadataValue::try_from(value).map_err(|_| header_error(name))?;
            value.set_sensitive(true);
            headers.push((key, value));
            Ok(())
        };
        if let Some(token) = &target.token {
            add("authorization", &format!("Bearer {}", token.expose_secret()))?;
        }
        for (name, value) in &target.headers {
            add(name, value.expose_secret())?;
        }
        Ok(Self(headers))
    }
}

impl Interceptor for Headers {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        for (name, value) in &self.0 {
            request.metadata_mut().insert(name.clone(), value.clone());
        }
        Ok(request)
    }
}

/// A session at the server.
#[derive(Debug)]
pub(crate) struct Session {
    id: String,
    /// The server's own name of it: another one after the server was started again.
    at_server: Option<String>,
}

/// A connection, which is opened again where it broke, with its session.
pub(crate) struct Connection {
    pub(crate) target: Target,
    client: Client,
    session: Mutex<Arc<Session>>,
}

impl Connection {
    /// Connects and opens a session, or joins the one that the target names. `message_bytes` bounds
    /// each message of the server.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses the user or the session's settings.
    pub(crate) async fn open(target: Target, message_bytes: usize) -> Result<Self, DatabaseError> {
        let headers = Headers::for_target(&target)?;
        let endpoint = endpoint(&target)?;
        let channel = tokio::time::timeout(CONNECTING, endpoint.connect()).await;
        let channel = channel.map_err(|_| unreachable_server(&target, "no answer within 10 s"))?;
        let channel = channel.map_err(|error| connection_error(&target, &error))?;
        let client = SparkConnectServiceClient::with_interceptor(channel, headers);
        let client = client.max_decoding_message_size(message_bytes);
        let id = match &target.session {
            Some(id) => id.clone(),
            None => uuid().map_err(|reason| unreachable_server(&target, &reason))?,
        };
        let session = set(client.clone(), &target, Session { id, at_server: None }).await;
        let session = session.map_err(|failure| failure.opening(target.display_address()))?;
        Ok(Self { target, client, session: Mutex::new(Arc::new(session)) })
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Called when a call in the session `old` failed. Opens another session where that one is
    /// gone, and returns whether the call may be tried again in the present one. A session that the
    /// user named is not replaced.
    pub(crate) async fn is_renewed(&self, old: &Arc<Session>, failure: &Failure) -> bool {
        if !failure.may_be_lost_session() || self.target.session.is_some() {
            return false;
        }
        if !Arc::ptr_eq(old, &self.session()) {
            return true;
        }
        let same = Session { id: old.id.clone(), at_server: old.at_server.clone() };
        if set(self.client(), &self.target, same).await.is_ok() {
            return false;
        }
        let Ok(id) = uuid() else { return false };
        let Ok(session) = set(self.client(), &self.target, Session { id, at_server: None }).await
        else {
            return false;
        };
        tracing::info!("the server had ended the session; another one is open");
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(session);
        true
    }

    fn user(&self) -> Option<proto::UserContext> {
        user(&self.target)
    }

    /// The request to run a plan, under the name by which it can be interrupted.
    pub(crate) fn execute(
        &self,
        session: &Session,
        plan: proto::Plan,
        operation: String,
    ) -> proto::ExecutePlanRequest {
        proto::ExecutePlanRequest {
            session_id: session.id.clone(),
            client_observed_server_side_session_id: session.at_server.clone(),
            user_context: self.user(),
            operation_id: Some(operation),
            plan: Some(plan),
            client_type: client_type(),
        }
    }

    pub(crate) fn analyze(
        &self,
        session: &Session,
        analyze: proto::analyze_plan_request::Analyze,
    ) -> proto::AnalyzePlanRequest {
        proto::AnalyzePlanRequest {
            session_id: session.id.clone(),
            client_observed_server_side_session_id: session.at_server.clone(),
            user_context: self.user(),
            client_type: client_type(),
            analyze: Some(analyze),
        }
    }

    pub(crate) fn interrupt(
        &self,
        session: &Session,
        operation: String,
    ) -> proto::InterruptRequest {
        use proto::interrupt_request::{Interrupt, InterruptType};
        proto::InterruptRequest {
            session_id: session.id.clone(),
            client_observed_server_side_session_id: session.at_server.clone(),
            user_context: self.user(),
            client_type: client_type(),
            interrupt_type: InterruptType::OperationId.into(),
            interrupt: Some(Interrupt::OperationId(operation)),
        }
    }
}

impl Drop for Connection {
    /// Ends the session at the server, unless the user named it.
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.target.session.is_some() {
            return;
        }
        let request = proto::ReleaseSessionRequest {
            session_id: self.session().id.clone(),
            user_context: self.user(),
            client_type: client_type(),
        };
        let mut client = self.client();
        runtime.spawn(async move {
            let _ = tokio::time::timeout(OPENING, client.release_session(request)).await;
        });
    }
}

fn user(target: &Target) -> Option<proto::UserContext> {
    Some(proto::UserContext { user_id: target.user.clone(), user_name: target.user.clone() })
}

fn client_type() -> Option<String> {
    Some("syrch-host".to_owned())
}

/// Sets a session's settings, which opens it where it is new.
async fn set(mut client: Client, target: &Target, session: Session) -> Result<Session, Failure> {
    use proto::config_request::{Operation, Set, operation::OpType};
    let pairs = SETTINGS
        .map(|(key, value)| proto::KeyValue { key: key.to_owned(), value: Some(value.to_owned()) });
    let request = proto::ConfigRequest {
        session_id: session.id.clone(),
        client_observed_server_side_session_id: session.at_server.clone(),
        user_context: user(target),
        operation: Some(Operation { op_type: Some(OpType::Set(Set { pairs: pairs.to_vec() })) }),
        client_type: client_type(),
    };
    let answer = tokio::time::timeout(OPENING, client.config(request)).await;
    let answer = answer.unwrap_or_else(|_| Err(Status::unavailable("no answer within 30 s")));
    let at_server =
        answer.map_err(|status| Failure::from_status(&status))?.into_inner().server_side_session_id;
    Ok(Session { id: session.id, at_server: Some(at_server).filter(|id| !id.is_empty()) })
}

fn endpoint(target: &Target) -> Result<Endpoint, DatabaseError> {
    let scheme = if target.is_encrypted { "https" } else { "http" };
    let wrong = |_| DatabaseError::Address {
        reason: "the server's name or `user_agent` cannot be used".to_owned(),
    };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{}:{}", target.host, target.port))
        .map_err(wrong)?;
    let endpoint = endpoint
        .user_agent(target.user_agent.clone())
        .map_err(wrong)?
        .connect_timeout(CONNECTING)
        .http2_keep_alive_interval(KEEP_ALIVE.0)
        .keep_alive_timeout(KEEP_ALIVE.1)
        .http2_max_header_list_size(HEADERS);
    if !target.is_encrypted {
        return Ok(endpoint);
    }
    let tls = ClientTlsConfig::new().with_native_roots();
    endpoint.tls_config(tls).map_err(|_| {
        let reason = "the operating system has no root certificates that can be used".to_owned();
        DatabaseError::Encryption { path: target.display_address(), reason }
    })
}

fn unreachable_server(target: &Target, reason: &str) -> DatabaseError {
    DatabaseError::Unreachable { path: target.display_address(), reason: reason.to_owned() }
}

/// Returns the reason why there is no connection: what stands deepest in the chain of causes says
/// it best.
fn connection_error(target: &Target, error: &tonic::transport::Error) -> DatabaseError {
    let mut cause: &(dyn Error + 'static) = error;
    loop {
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let inner: Option<&(dyn Error + 'static)> = inner.map(|inner| inner as _);
        match inner.or_else(|| cause.source()) {
            Some(next) => cause = next,
            None => break,
        }
    }
    let path = target.display_address();
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return DatabaseError::Encryption { path, reason: tls.to_string() };
    }
    let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    match kind {
        Some(std::io::ErrorKind::ConnectionRefused) => {
            unreachable_server(target, "no server listens there")
        }
        _ => unreachable_server(target, &cause.to_string()),
    }
}

/// A random UUID, version 4.
///
/// # Errors
/// When the operating system gives no random bytes.
pub(crate) fn uuid() -> Result<String, String> {
    use std::fmt::Write as _;
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random bytes: {error}"))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_form() {
        let one = uuid().unwrap();
        let two = uuid().unwrap();
        assert_ne!(one, two);
        assert_eq!((one.len(), one.as_bytes()[14], one.matches('-').count()), (36, b'4', 4));
        assert!("89ab".contains(char::from(one.as_bytes()[19])));
    }
}
