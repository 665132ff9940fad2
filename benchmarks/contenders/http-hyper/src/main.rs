//! The answers of http-work.js in Rust, and the endpoints of HttpArena: hyper on one thread, as Node has one.

use std::convert::Infallible;
use std::env;
use std::time::{Duration, Instant};

use futures_util::stream;
use http_body_util::{combinators::UnsyncBoxBody, BodyExt, Empty, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::task::LocalSet;

const CHUNKS: usize = 16;
const CHUNK_BYTES: usize = 64 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain");
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");

type Body = UnsyncBoxBody<Bytes, Infallible>;

#[derive(Deserialize)]
struct Order {
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    cents: u64,
    count: u64,
}

#[derive(Clone)]
struct Texts {
    product: Bytes,
    chunk: Bytes,
}

async fn answer(request: Request<Incoming>, texts: Texts) -> Result<Response<Body>, Infallible> {
    let answer = match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => of(JSON, Full::new(texts.product).boxed_unsync()),
        (&Method::GET, "/busy") => {
            work();
            of(JSON, Full::new(texts.product).boxed_unsync())
        }
        (&Method::POST, "/order") => order(request).await,
        (&Method::GET, "/stream") => {
            let chunks =
                (0..CHUNKS).map(move |_| Ok::<_, Infallible>(Frame::data(texts.chunk.clone())));
            of(BYTES, StreamBody::new(stream::iter(chunks)).boxed_unsync())
        }
        (&Method::GET, "/pipeline") => of(TEXT, Full::from("ok").boxed_unsync()),
        (_, "/baseline11") => sum(request).await,
        (&Method::GET, path) => match path.strip_prefix("/delay/").map(str::parse) {
            Some(Ok(ms)) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                of(TEXT, Full::from(ms.to_string()).boxed_unsync())
            }
            _ => status(StatusCode::NOT_FOUND),
        },
        _ => status(StatusCode::NOT_FOUND),
    };
    Ok(answer)
}

/// Of the parameters `a` and `b`, and of the body.
async fn sum(request: Request<Incoming>) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default();
    let parameters: i64 = query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("a=").or_else(|| pair.strip_prefix("b=")))
        .filter_map(|value| value.parse::<i64>().ok())
        .sum();
    let Ok(body) = request.into_body().collect().await else {
        return status(StatusCode::BAD_REQUEST);
    };
    let body = body.to_bytes();
    let posted: i64 = std::str::from_utf8(&body)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    of(TEXT, Full::from((parameters + posted).to_string()).boxed_unsync())
}

fn work() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(5) {
        std::hint::spin_loop();
    }
}

async fn order(request: Request<Incoming>) -> Response<Body> {
    let Ok(body) = request.into_body().collect().await else {
        return status(StatusCode::BAD_REQUEST);
    };
    let Ok(order) = serde_json::from_slice::<Order>(&body.to_bytes()) else {
        return status(StatusCode::BAD_REQUEST);
    };
    let cents: u64 = order.lines.iter().map(|line| line.cents * line.count).sum();
    let text = format!("{{\"lines\":{},\"cents\":{cents}}}", order.lines.len());
    of(JSON, Full::from(text).boxed_unsync())
}

fn of(content_type: HeaderValue, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed_unsync());
    *response.status_mut() = status;
    response
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let texts = Texts {
        product: env::var("PRODUCT").unwrap_or_default().into(),
        chunk: "redline ".repeat(CHUNK_BYTES / 8).into(),
    };
    let host = env::var("HOST").unwrap_or_else(|_| "127.0.0.1".into());
    let port = env::var("PORT").unwrap_or_else(|_| "8001".into());
    let listener = TcpListener::bind(format!("{host}:{port}")).await?;
    LocalSet::new()
        .run_until(async {
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let texts = texts.clone();
                tokio::task::spawn_local(async move {
                    // A client that goes away ends its connection, not the server.
                    let _ = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .serve_connection(
                            TokioIo::new(stream),
                            service_fn(move |request| answer(request, texts.clone())),
                        )
                        .await;
                });
            }
        })
        .await
}
