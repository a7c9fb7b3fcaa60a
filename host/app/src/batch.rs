//! Many questions at once, from programs: lines in, a reply for each, whatever a line holds or
//! comes to. A cluster is this, many times over: lines know nothing of each other.
//!
//! ```
//! use std::sync::Arc;
//! use futures::{StreamExt, stream};
//! use syrch::batch::{Batch, Ending, Line, Options, Question};
//! use syrch::{Observer, Settings, Silent, Stop};
//!
//! # #[tokio::main(flavor = "multi_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = syrch_kit::scratch();
//! # let shop = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "
//! #     CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
//! #     INSERT INTO customers(name) VALUES ('Anna'), ('Ben');");
//! let observer: Arc<dyn Observer> = Arc::new(Silent);
//! let settings = Settings { database: shop.display().to_string(), ..Settings::default() };
//! let batch = Batch::open(settings, Options::default(), &observer).await?;
//!
//! let lines = stream::iter([
//!     Line::new(1, Question::new("How many customers are there?")),
//!     Line::read(2, br#"{"id": "a", "question": "What are the names of all customers?"}"#)
//!         .ok_or("a blank line")?,
//!     Line::read(3, b"{oops").ok_or("a blank line")?,
//! ]);
//! let mut replies = batch.answers(lines, &Stop::new());
//! let mut endings = Vec::new();
//! while let Some(reply) = replies.next().await {
//!     println!("{}", serde_json::to_string(&reply)?);
//!     endings.push((reply.id.to_string(), reply.outcome));
//! }
//! let ended = replies.finish();
//! assert_eq!(endings[0], ("1".to_owned(), Ending::Answered));
//! assert_eq!(endings[1], ("\"a\"".to_owned(), Ending::Answered));
//! assert_eq!(endings[2], ("3".to_owned(), Ending::Failed));
//! assert_eq!((ended.totals.lines, ended.totals.failed), (3, 1));
//! assert!(ended.stopped.is_none());
//! # Ok(())
//! # }
//! ```

mod answers;
mod hosts;
mod line;
mod reply;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use syrch_scheduler::Stop;

pub use answers::{Answers, Ended, Stopped, Totals};
pub use line::{LONGEST, Line, Question, problem};
pub use reply::{Ending, Reply};
pub use syrch_suites::run::{Fault, RunBudgets, UsedUp};

use crate::open::check_prices;
use crate::{Error, Observer, Settings};
use hosts::Hosts;

/// The settings of a batch, besides those of its searches.
#[derive(Debug, Clone)]
pub struct Options {
    /// The number of questions that are asked at once, at least 1.
    pub workers: usize,
    /// The order of the replies.
    pub order: Order,
    /// The limits on what the whole batch spends. A call is reserved before it is sent, so that the
    /// searches under way exceed none of them: one that would has an error of the class `budget`.
    /// Calls and tokens that a cache answered count, too. Once a limit is reached, each further
    /// line gets such an error and is not asked.
    pub budgets: RunBudgets,
    /// True if the lines are a part of others: a line of a conversation then gets an error, since
    /// another part may have the lines before it.
    pub is_part: bool,
    /// The totals of replies that were given before, which count towards the budgets.
    pub earlier: Totals,
    /// The number of consecutive searches, in the order of their ending, that the model's failures
    /// may end before the batch stops. 0 means never.
    pub max_outages: u32,
    /// The folder in which each search leaves a journal; nothing is removed there. With `None`
    /// there are no journals, so that a large batch removes no other journals.
    pub traces: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 5,
            order: Order::Given,
            budgets: RunBudgets::default(),
            is_part: false,
            earlier: Totals::default(),
            max_outages: 0,
            traces: None,
        }
    }
}

/// The order of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The order of the lines. Replies that are there already wait for a slow one; when too many
    /// wait, no further line is taken.
    #[default]
    Given,
    /// The order in which the searches end.
    Ended,
}

/// Answers lines. Batches of one value share plugins, cache, endpoints and databases.
pub struct Batch {
    hosts: Arc<Hosts>,
    options: Options,
}

impl Batch {
    /// Checks what holds for all lines. [`Settings::database`] is the database of all of them, or a
    /// folder in which each line names its own.
    ///
    /// # Errors
    /// When the database cannot be opened, a setting is wrong, a plugin is refused, or money is
    /// limited and a model has no price.
    pub async fn open(
        settings: Settings,
        options: Options,
        observer: &Arc<dyn Observer>,
    ) -> Result<Self, Error> {
        if options.budgets.usd.is_some() {
            check_prices(&settings.model)?;
        }
        let hosts = Arc::new(Hosts::open(settings, Arc::clone(observer)).await?);
        Ok(Self { hosts, options })
    }

    /// A reply for each line, as a stream: lines are taken as slots become free, so neither many
    /// lines nor a slow reader take memory. Triggering `stop` ends it with what is done; searches
    /// under way are dropped and have no reply.
    pub fn answers<'a>(
        &self,
        lines: impl Stream<Item = Line> + Send + 'a,
        stop: &Stop,
    ) -> Answers<'a> {
        Answers::new(Arc::clone(&self.hosts), self.options.clone(), lines.boxed(), stop)
    }
}
