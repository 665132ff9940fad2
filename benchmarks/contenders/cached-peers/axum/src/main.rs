//! Products out of Redis, each with its log line. `cached-axum default` is axum and `tracing` as their documentation sets
//! them up; `cached-axum tuned` runs on one thread and writes its lines by hand, 64 KiB at a time.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{Error, Result, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{HeaderMap, HeaderValue, CONTENT_TYPE};
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::Router;
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const BATCH_BYTES: usize = 64 * 1024;

async fn product(State(mut redis): State<MultiplexedConnection>, Path(id): Path<u32>) -> Response {
    match redis
        .get::<_, Option<Vec<u8>>>(format!("product:{id}"))
        .await
    {
        Ok(Some(json)) => ([(CONTENT_TYPE, JSON)], Body::from(json)).into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

/// Nothing but lines of `tracing`, or the buffer of the lines that are written by hand.
type Log = Option<Arc<Mutex<Lines>>>;

struct Lines {
    file: File,
    waiting: Vec<u8>,
}

impl Lines {
    fn flush(&mut self) {
        // A disk that is full costs lines, not answers.
        let _ = self.file.write_all(&self.waiting);
        self.waiting.clear();
    }
}

async fn logged(State(log): State<Log>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let uri = request.uri().clone();
    let id = request_id(request.headers());
    let response = next.run(request).await;
    let (id, url) = (id.as_ref().map_or("", text_of), uri.path());
    let status = response.status().as_u16();
    let took = start.elapsed().as_secs_f64() * 1e3;
    if let Some(log) = log {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = now.map_or(0, |since| since.as_millis());
        let mut lines = log.lock().expect("no holder panics");
        let _ = writeln!(
            lines.waiting,
            "{{\"level\":30,\"time\":{time},\"reqId\":\"{id}\",\"method\":\"{method}\",\"url\":\"{url}\",\
             \"statusCode\":{status},\"responseTime\":{took:.3},\"msg\":\"request completed\"}}"
        );
        if lines.waiting.len() >= BATCH_BYTES {
            lines.flush();
        }
    } else {
        tracing::info!(
            reqId = id,
            %method,
            url,
            statusCode = status,
            responseTime = took,
            "request completed"
        );
    }
    response
}

/// Only what needs no escapes: a line is written as it is.
fn request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let value = headers.get("x-request-id")?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    value.as_bytes().iter().all(plain).then(|| value.clone())
}

fn text_of(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("")
}

fn variable(name: &str) -> Result<String> {
    env::var(name).map_err(|_| Error::other(format!("{name} is not set")))
}

async fn serve(log: Log) -> Result<()> {
    let client = Client::open(variable("REDIS_URL")?).map_err(Error::other)?;
    let redis = client
        .get_multiplexed_async_connection()
        .await
        .map_err(Error::other)?;
    if let Some(log) = log.clone() {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                log.lock().expect("no holder panics").flush();
            }
        });
    }
    let app = Router::new()
        .route("/products/{id}", get(product))
        .with_state(redis)
        .layer(from_fn_with_state(log, logged));
    let address = format!("{}:{}", variable("HOST")?, variable("PORT")?);
    axum::serve(TcpListener::bind(address).await?, app).await
}

fn main() -> Result<()> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(variable("LOG")?)?;
    if env::args().nth(1).as_deref() == Some("tuned") {
        let waiting = Vec::with_capacity(2 * BATCH_BYTES);
        let log = Arc::new(Mutex::new(Lines { file, waiting }));
        let runtime = Builder::new_current_thread().enable_all().build()?;
        return runtime.block_on(serve(Some(log)));
    }
    // Held until the end: it writes what waits.
    let (writer, _guard) = tracing_appender::non_blocking::NonBlockingBuilder::default()
        .lossy(false)
        .finish(file);
    tracing_subscriber::fmt().json().with_writer(writer).init();
    Runtime::new()?.block_on(serve(None))
}
