import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  ValueType,
  type Attributes,
  type Histogram,
  type Meter,
  type Tracer,
} from '@opentelemetry/api';
import { RPCType, setRPCMetadata, type RPCMetadata } from '@opentelemetry/core';
import { runListenersIn, type Exchange, type RunIn } from './listeners.ts';
import { untracedServers } from './node-servers.ts';
import { requestAttributes } from './request-attributes.ts';

interface Parts {
  readonly tracer: Tracer;
  readonly meter: Meter;
  readonly boundaries: readonly number[];
  readonly run: RunIn;
  /** Returns the route of a request, if a framework has found one. */
  routeOf(request: IncomingMessage): string | undefined;
}

const START = 'http.server.request.start';
const OF_METRICS = ['http.request.method', 'url.scheme', 'network.protocol.version'];

/** Traces the servers of `node:http` and `node:https` with spans of OpenTelemetry's SDK. */
export function traceWithSdk(parts: Parts): () => void {
  const histogram = parts.meter.createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP server requests.',
    unit: 's',
    valueType: ValueType.DOUBLE,
    advice: { explicitBucketBoundaries: [...parts.boundaries] },
  });
  const onStart = (message: unknown): void => {
    const exchange = message as Exchange;
    if (!untracedServers.has(exchange.server)) traceExchange(exchange, parts, histogram);
  };
  subscribe(START, onStart);
  return () => void unsubscribe(START, onStart);
}

function traceExchange(exchange: Exchange, parts: Parts, histogram: Histogram): void {
  const { request, response } = exchange;
  const startedAt = performance.now();
  const attributes = requestAttributes(request);
  const method = request.method ?? 'GET';
  const parent = propagation.extract(ROOT_CONTEXT, request.headers);
  const span = parts.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  const rpc: RPCMetadata = { type: RPCType.HTTP, span };
  runListenersIn(setRPCMetadata(trace.setSpan(parent, span), rpc), exchange, parts.run);
  response.once('close', () => {
    const route = parts.routeOf(request) ?? rpc.route;
    const ending = endAttributes(response, route);
    span.setAttributes(ending);
    if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    if (route !== undefined) span.updateName(`${method} ${route}`);
    span.end();
    const known = OF_METRICS.map((name) => [name, attributes[name]]);
    const seconds = (performance.now() - startedAt) / 1_000;
    histogram.record(seconds, { ...(Object.fromEntries(known) as Attributes), ...ending });
  });
}

function endAttributes({ statusCode }: ServerResponse, route: string | undefined): Attributes {
  return {
    'http.response.status_code': statusCode,
    ...(route !== undefined && { 'http.route': route }),
    ...(statusCode >= 500 && { 'error.type': String(statusCode) }),
  };
}
