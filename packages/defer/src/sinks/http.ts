import { isolate } from '../delivery/outcomes.ts';
import { optionError } from '../errors.ts';
import { retry, type Delivery, type Sink } from '../sink.ts';
import { refuseUnknown } from '../validate.ts';

export interface HttpOptions {
  /** The URL to which batches are posted. */
  url: string | URL;
  /** Added to every request, e.g. `authorization`; a function is called each time. */
  headers?:
    | Record<string, string>
    | (() => Record<string, string> | Promise<Record<string, string>>);
  /**
   * `'json'`: one array. `'ndjson'`: a line for each job.
   * @default 'json'
   */
  format?: 'json' | 'ndjson';
}

/** Statuses that concern the server, not the jobs sent. */
const passing = new Set([401, 403, 404, 407, 408, 421, 425, 429]);

/**
 * Batches are posted to an HTTP endpoint. A job is `{ id, job, key?, at, context?, data }`; `id` is the same if it has to
 * be sent again. Any 2xx accepts the whole batch. A 429 or 503 with `retry-after` is obeyed; any other 4xx blames a
 * job, which is found by bisection; everything else means that the server is down.
 *
 * @example
 * ```ts
 * const sink = http({ url: 'https://logs.example.com/batch', headers: { authorization: `Bearer ${token}` } });
 * ```
 */
export function http(options: HttpOptions): Sink {
  refuseUnknown<keyof HttpOptions>('http', options, { url: true, headers: true, format: true });
  const { format = 'json' } = options;
  if (!URL.canParse(String(options.url))) {
    throw optionError(`url is "${String(options.url)}": it must be a URL.`);
  }
  if (format !== 'json' && format !== 'ndjson') {
    throw optionError(`format is ${JSON.stringify(format)}: it must be "json" or "ndjson".`);
  }
  return {
    kind: 'http',
    async send(batch, signal) {
      try {
        return await isolate(
          batch,
          (part) => post(part, signal, options),
          (error) => error instanceof RefusedError,
        );
      } catch (error) {
        if (error instanceof PauseError) return batch.map(() => retry(error, error.afterMs));
        throw error;
      }
    },
  };
}

class RefusedError extends Error {}

class PauseError extends Error {
  readonly afterMs: number;

  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

async function post(
  part: readonly Delivery[],
  signal: AbortSignal,
  { url, headers = {}, format = 'json' }: HttpOptions,
): Promise<void> {
  const lines = part.map(toJson);
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': format === 'json' ? 'application/json' : 'application/x-ndjson',
      ...(typeof headers === 'function' ? await headers() : headers),
    },
    body: format === 'json' ? `[${lines.join(',')}]` : `${lines.join('\n')}\n`,
    redirect: 'manual',
    signal,
  });
  // Read to the end, so that the connection can be reused.
  const said = (await answer.text()).slice(0, 200);
  if (answer.ok) return;
  const message = `${String(url)} responded with ${answer.status} ${said}`.trim();
  const afterMs = waitAsked(answer.headers.get('retry-after'));
  if (afterMs !== undefined && (answer.status === 429 || answer.status === 503)) {
    throw new PauseError(message, afterMs);
  }
  if (answer.status >= 400 && answer.status < 500 && !passing.has(answer.status)) {
    throw new RefusedError(message);
  }
  throw new Error(message);
}

/** Inserts the data unchanged: it is JSON already. */
function toJson({ id, job, key, deferredAtMs, context, json }: Delivery): string {
  const envelope = JSON.stringify({ id, job, key, at: deferredAtMs, context });
  return `${envelope.slice(0, -1)},"data":${json}}`;
}

/** Parses `retry-after`: seconds, or a date. */
function waitAsked(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const afterMs = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(afterMs) ? undefined : Math.max(0, afterMs);
}
