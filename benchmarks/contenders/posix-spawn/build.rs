//! Links the addon the way Node-API wants it.

fn main() {
    napi_build::setup();
}
