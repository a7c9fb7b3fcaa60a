//! The provider `recorded`, which answers in place of a model with what real systems answered to
//! the questions of a suite.

mod figures;
mod replies;
mod world;
