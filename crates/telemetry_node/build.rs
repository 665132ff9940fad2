//! Links the addon as Node-API requires.

fn main() {
    napi_build::setup();
}
