import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  OTLPExporterError,
  type ExportResponse,
  type IExporterTransport,
} from '@opentelemetry/otlp-exporter-base';
import type { convertLegacyHttpOptions } from '@opentelemetry/otlp-exporter-base/node-http';

export type HttpOptions = ReturnType<typeof convertLegacyHttpOptions>;

const gzipped = promisify(gzip);
/** Statuses that mean "later", by the specification of OTLP. */
const LATER = new Set([429, 502, 503, 504]);
/** Node's timers take no more. */
const MAX_TIMER = 2 ** 31 - 1;
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 5_000;

/**
 * Sends as OpenTelemetry's exporters do, but keeps no process alive: one that has nothing left to do does not wait for a receiver
 * that is gone, unless a flush does.
 */
export class HttpTransport implements IExporterTransport {
  readonly #options: HttpOptions;
  #agent: ReturnType<HttpOptions['agentFactory']> | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /** Sends once, and again while the receiver may take it later, within the timeout. */
  async send(data: Uint8Array, timeoutMillis: number): Promise<ExportResponse> {
    const deadline = performance.now() + timeoutMillis;
    for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 1.5, LONGEST_WAIT)) {
      const left = Math.max(1, Math.ceil(deadline - performance.now()));
      const response = await this.#sendOnce(data, left);
      if (response.status !== 'retryable') return response;
      const pause = response.retryInMillis ?? wait * (0.8 + 0.4 * Math.random());
      if (performance.now() + pause >= deadline) return response;
      await sleep(pause, undefined, { ref: false });
    }
  }

  shutdown(): void {}

  async #sendOnce(data: Uint8Array, timeout: number): Promise<ExportResponse> {
    const { url, headers, compression, agentFactory } = this.#options;
    const { protocol } = new URL(url);
    this.#agent ??= agentFactory(protocol);
    const { request } = process.getBuiltinModule(protocol === 'http:' ? 'node:http' : 'node:https');
    const isZipped = compression === 'gzip';
    // Not on this thread: half a MiB takes it ten milliseconds.
    const body = isZipped ? await gzipped(data) : data;
    const sent = request(url, {
      method: 'POST',
      agent: await this.#agent,
      headers: {
        ...(await headers()),
        'User-Agent': '@redline/telemetry',
        ...(isZipped && { 'Content-Encoding': 'gzip' }),
      },
    });
    sent.on('socket', (socket) => void socket.unref());
    sent.end(body);
    return responseOf(sent, timeout);
  }
}

function responseOf(sent: ClientRequest, timeout: number): Promise<ExportResponse> {
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => sent.destroy(new Error(`no response within ${timeout} ms`)),
      Math.min(timeout, MAX_TIMER),
    );
    timer.unref();
    const fail = (error: Error): void => {
      clearTimeout(timer);
      resolve({ status: 'retryable', error });
    };
    sent.on('error', fail);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', fail);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        clearTimeout(timer);
        resolve(meaningOf(response, Buffer.concat(chunks)));
      });
    });
  });
}

function meaningOf(response: IncomingMessage, data: Buffer): ExportResponse {
  const { statusCode: status = 0, statusMessage, headers } = response;
  if (status >= 200 && status <= 299) return { status: 'success', data };
  if (LATER.has(status)) return { status: 'retryable', ...retryAfter(headers['retry-after']) };
  return {
    status: 'failure',
    error: new OTLPExporterError(statusMessage, status, data.toString()),
  };
}

/** Seconds, or a date. */
function retryAfter(value: string | undefined): { retryInMillis?: number } {
  if (value === undefined) return {};
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1_000;
  return ms >= 0 ? { retryInMillis: ms } : {};
}
