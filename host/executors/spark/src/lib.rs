//! Spark, over Spark Connect.
