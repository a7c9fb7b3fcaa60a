//! A server over one database.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use syrch::{Error, Host};
use syrch_mcp::Spending;
use tokio::net::TcpListener;

use crate::access::Access;
use crate::comparisons::Comparisons;
use crate::routes::{self, Served};
use crate::scope::Scope;
use crate::searches::Searches;
use crate::{Options, Program, connections};

/// The reason why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use, or not one of this machine.
    #[error("the server cannot listen on {address}: {source}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// Other machines could reach the server, and there is no token that keeps them out.
    #[error("{0} can be reached by other machines, and there is no token for it")]
    Open(SocketAddr),
    /// The system has no random bytes for links or for the keys of MCP.
    #[error("the system has no random bytes: {0}")]
    Random(String),
    /// An error of the host.
    #[error(transparent)]
    Host(#[from] Error),
}

/// A server that listens, and has not served yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    served: Arc<Served>,
    resumed: usize,
}

impl Server {
    /// Listens on the address, and resumes what earlier servers left. Nothing is
    /// answered before [`Server::run`].
    ///
    /// # Errors
    /// When the address cannot be had, or other machines could reach it and there is no token.
    pub async fn open(
        host: Host,
        options: Options,
        program: Arc<dyn Program>,
    ) -> Result<Self, ServeError> {
        let address = options.address;
        if !address.ip().is_loopback() && options.token.is_none() {
            return Err(ServeError::Open(address));
        }
        let listen = async {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) =
            listen.await.map_err(|source| ServeError::Address { address, source })?;
        let spending = Spending::new(options.total_micros);
        let scope = Scope::new(host.settings());
        let searches =
            Searches::new(host.clone(), Arc::clone(&program), &options, &scope, spending.clone());
        let comparisons =
            Comparisons::new(Arc::clone(&program), &options, &scope, spending.clone());
        let resumed = searches.resume_unfinished() + comparisons.resume_unfinished();
        let mcp = options.mcp.then(|| {
            let queue = searches.queue().clone();
            routes::mcp::endpoint(host.clone(), Arc::clone(&program), queue, spending)
        });
        let mcp = mcp.transpose().map_err(|error| ServeError::Random(error.to_string()))?;
        let served = Arc::new(Served {
            host,
            program,
            access: Access::new(address, &options.names, options.token),
            scope,
            searches,
            comparisons,
            limits: options.limits,
            runs: options.runs,
            summaries: routes::Summaries::default(),
            evaluations: options.evaluations,
            reports: routes::Reports::default(),
            mcp,
            busy: Mutex::default(),
        });
        Ok(Self { listener, address, served, resumed })
    }

    /// The address on which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of searches and comparisons of earlier servers that are resumed.
    #[must_use]
    pub fn count_resumed(&self) -> usize {
        self.resumed
    }

    /// Serves until `stop` ends. Then no further search begins, and those under way have the grace
    /// period; what has not ended by then is resumed by the next server.
    ///
    /// # Errors
    /// When the system has no random bytes for the first link.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Self { listener, served, .. } = self;
        let link = served.access.make_link();
        let link = link.map_err(|error| ServeError::Random(error.to_string()))?;
        served.program.offer_link(&link);
        let searches = Arc::clone(&served.searches);
        let comparisons = Arc::clone(&served.comparisons);
        let limits = served.limits.clone();
        let stop = async move {
            stop.await;
            tokio::join!(searches.close(), comparisons.close());
        };
        connections::serve(listener, routes::router(served), &limits, stop).await;
        Ok(())
    }
}
