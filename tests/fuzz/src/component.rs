//! Components, before they are compiled and where their names fit the contract.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Duration;

use syrch_core::Limits;
use syrch_runtime::{CompileSettings, Origin, Runtime, Toolchain, check_names, producers};
use tokio::runtime::Builder;

/// The engine, and the threads on which it works.
struct World {
    threads: tokio::runtime::Runtime,
    engine: Runtime,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let limits = Limits {
        compile: Duration::from_secs(5),
        cpu_per_call: Duration::from_millis(500),
        idle: Duration::from_millis(500),
        memory: 16 << 20,
        ..Limits::default()
    };
    let threads = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let engine = Runtime::new(limits, &CompileSettings::default()).expect("the engine starts");
    World { threads, engine }
});

/// Takes the text of a component as well as its bytes.
pub(crate) fn check(input: &[u8]) {
    let Ok(bytes) = wat::parse_bytes(input) else { return };
    let names = check_names(&bytes);
    black_box(Toolchain::detect(&bytes));
    for program in producers(&bytes) {
        assert!(program.len() <= bytes.len(), "{program:?}");
    }
    let world = &*WORLD;
    let loaded = world.engine.load("fuzzed", bytes.to_vec(), Origin::ThirdParty, &|| {});
    match world.threads.block_on(loaded) {
        Ok(plugin) => {
            let names = names.expect("what is loaded is a component");
            assert!(names.iter().all(|name| name.wrong.is_none()), "{names:?}");
            assert!(!plugin.roles().is_empty());
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.len() <= 8_000, "{} bytes: {text}", text.len());
        }
    }
}
