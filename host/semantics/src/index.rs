//! The names and words of a semantics file in maps, which are made once: a question looks up each
//! of its words, whatever the number of metrics.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::Semantics;
use crate::compile::{find_suffix, qualify};
use crate::joins::Edges;
use crate::question::Vocabulary;
use crate::terms::Stems;

/// The index of a [`Semantics`], made on first use. It is no part of its value.
#[derive(Default)]
pub(crate) struct Index(OnceLock<Arc<Built>>);

impl Clone for Index {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Index {}

/// The maps for the definitions as they were when they were made.
pub(crate) struct Built {
    counts: [usize; 4],
    metrics: HashMap<String, usize>,
    synonyms: HashMap<String, usize>,
    tables: HashMap<String, usize>,
    dimensions: HashMap<String, Vec<usize>>,
    edges: OnceLock<Arc<Edges>>,
    suffix: OnceLock<String>,
    vocabulary: OnceLock<Vocabulary>,
    stems: OnceLock<Stems>,
}

impl Semantics {
    /// Returns the index. It is made anew where definitions were added since.
    pub(crate) fn index(&self) -> Arc<Built> {
        let built = self.index.0.get_or_init(|| Arc::new(Built::new(self)));
        match built.counts == count(self) {
            true => Arc::clone(built),
            false => Arc::new(Built::new(self)),
        }
    }
}

impl fmt::Debug for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semantics")
            .field("today", &self.today)
            .field("week_start", &self.week_start)
            .field("tables", &self.tables)
            .field("joins", &self.joins)
            .field("dimensions", &self.dimensions)
            .field("metrics", &self.metrics)
            .finish()
    }
}

fn count(semantics: &Semantics) -> [usize; 4] {
    let Semantics { metrics, dimensions, tables, joins, .. } = semantics;
    [metrics.len(), dimensions.len(), tables.len(), joins.len()]
}

impl Built {
    fn new(semantics: &Semantics) -> Self {
        let mut metrics = HashMap::with_capacity(semantics.metrics.len());
        let mut synonyms = HashMap::new();
        for (at, metric) in semantics.metrics.iter().enumerate() {
            metrics.entry(metric.name.to_lowercase()).or_insert(at);
            for synonym in &metric.synonyms {
                synonyms.entry(synonym.to_lowercase()).or_insert(at);
            }
        }
        let mut tables = HashMap::new();
        for (at, table) in semantics.tables.iter().enumerate() {
            tables.entry(table.name.to_lowercase()).or_insert(at);
        }
        let mut dimensions: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, dimension) in semantics.dimensions.iter().enumerate() {
            for name in [dimension.name.to_lowercase(), qualify(dimension).to_lowercase()] {
                dimensions.entry(name).or_default().push(at);
            }
        }
        Self {
            counts: count(semantics),
            metrics,
            synonyms,
            tables,
            dimensions,
            edges: OnceLock::new(),
            suffix: OnceLock::new(),
            vocabulary: OnceLock::new(),
            stems: OnceLock::new(),
        }
    }

    /// The place of the metric of that name.
    pub(crate) fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.get(&name.to_lowercase()).copied()
    }

    /// The place of the first metric with that synonym.
    pub(crate) fn synonym(&self, name: &str) -> Option<usize> {
        self.synonyms.get(&name.to_lowercase()).copied()
    }

    /// The place of the table of that name.
    pub(crate) fn table(&self, name: &str) -> Option<usize> {
        self.tables.get(&name.to_lowercase()).copied()
    }

    /// The places of the dimensions that are called so, with the table before the name or without.
    pub(crate) fn dimensions(&self, name: &str) -> &[usize] {
        self.dimensions.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// The joins between tables.
    pub(crate) fn edges(&self, semantics: &Semantics) -> Arc<Edges> {
        Arc::clone(self.edges.get_or_init(|| Arc::new(Edges::from_semantics(semantics))))
    }

    /// The end of the names that statements give to their relations.
    pub(crate) fn suffix(&self, semantics: &Semantics) -> &str {
        self.suffix.get_or_init(|| find_suffix(semantics))
    }

    /// The words that questions have for the definitions.
    pub(crate) fn vocabulary(&self, semantics: &Semantics) -> &Vocabulary {
        self.vocabulary.get_or_init(|| Vocabulary::new(semantics))
    }

    /// The names of the definitions by the stems of their words.
    pub(crate) fn stems(&self, semantics: &Semantics) -> &Stems {
        self.stems.get_or_init(|| Stems::new(semantics))
    }
}
