//! `plugin push`: puts a plugin into a registry.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use syrch_projects::{Package, Reference};

use super::locked::{self, RegistryArgs};
use super::signed::BundleArgs;
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::Grid;

#[derive(Args)]
pub(crate) struct PushArgs {
    /// A component, the folder of a project that is built, or a .tar or .tar.gz of either
    #[arg(value_name = "FILE|DIR|TARBALL")]
    source: PathBuf,
    /// The address: oci://HOST/NAME:TAG
    #[arg(value_name = "oci://…")]
    address: String,
    #[command(flatten)]
    registry: RegistryArgs,
}

impl Run for PushArgs {
    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        vec![("the plugin to be pushed", self.source.clone())]
    }

    async fn run(self, context: Context) -> Outcome {
        let reference: Reference = self.address.parse()?;
        let package = Package::read(&self.source)?;
        // Nobody could add one that is no plugin, or whose signature or bundle is wrong.
        locked::check_signature(&package.name, &package, None, None)?;
        BundleArgs::default().check(&package.name, &package, None)?;
        let (found, _staged) = locked::stage(&context, &package, &self.source).await?;
        let credentials = self.registry.credentials(&context, &reference)?;
        let manifest = syrch_projects::push(&package, &reference, credentials).await?;
        let address = reference.to_string();
        let mut grid = Grid::new(["property", "value"]);
        grid.rows = vec![
            vec![json!("address"), json!(address)],
            vec![json!("manifest"), json!(manifest)],
            vec![json!("digest"), json!(found.digest)],
        ];
        context.rows(grid, || {
            json!({
                "schema": "syrch.pushed/1",
                "address": address,
                "manifest": manifest,
                "digest": found.digest,
            })
        })?;
        Ok(Exit::Answered)
    }
}
