//! The article's server in Rust: one process for each request. WORKLOAD=echo or cat, TEXT_FILE for cat.

use std::convert::Infallible;
use std::env;
use std::process::Stdio;

use futures_util::TryStreamExt;
use http_body_util::StreamBody;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_util::io::ReaderStream;

/// The read size of a pipe in Node.
const CHUNK_BYTES: usize = 64 * 1024;

async fn answer(
    _request: Request<Incoming>,
) -> Result<Response<impl Body<Data = Bytes, Error = std::io::Error>>, Infallible> {
    let mut command = match env::var("WORKLOAD").as_deref() {
        Ok("cat") => {
            let mut cat = Command::new("cat");
            cat.arg(env::var_os("TEXT_FILE").expect("TEXT_FILE"));
            cat
        }
        _ => {
            let mut echo = Command::new("echo");
            echo.arg("hi");
            echo
        }
    };
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let stdout = child.stdout.take().expect("stdout is piped");
    tokio::spawn(async move { child.wait().await });
    let chunks = ReaderStream::with_capacity(stdout, CHUNK_BYTES).map_ok(Frame::data);
    Ok(Response::new(StreamBody::new(chunks)))
}

/// Allocates memory and fills it: pages are not resident until they are written.
fn hold_memory() -> Vec<Vec<u8>> {
    let mebibytes = env::var("RESIDENT_MIB")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    (0..mebibytes).map(|_| vec![1_u8; 1 << 20]).collect()
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let resident = hold_memory();
    let host = env::var("HOST").unwrap_or_else(|_| "127.0.0.1".into());
    let port = env::var("PORT").unwrap_or_else(|_| "8001".into());
    let listener = TcpListener::bind(format!("{host}:{port}")).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // A client that goes away ends its connection, not the server.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
        std::hint::black_box(&resident);
    }
}
