import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { renderPage } from './render.ts';
import { messageOf } from '../thrown.ts';
import type { PageSource, Which } from './source.ts';

/** A handler of `node:http`; Express and Nest mount it with `app.use('/path', page)`. */
export type PageHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The forms of this page are a few hundred bytes. */
const maxFormBytes = 16 * 1_024;

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none';style-src 'unsafe-inline';form-action 'self';base-uri 'none';frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export function pageHandler(source: PageSource): PageHandler {
  // Unique to this handler: a page of another origin cannot know it.
  const token = randomBytes(16).toString('hex');

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET' || request.method === 'HEAD') {
      const done = request.method === 'GET' ? doneOf(request.url) : undefined;
      send(response, 200, renderPage(await source.read(), factsWith(done)));
      return;
    }
    if (request.method !== 'POST') {
      response.setHeader('allow', 'GET, HEAD, POST');
      refuse(response, 405, 'This page takes GET and POST.');
      return;
    }
    const form = await formOf(request);
    if (form === undefined) return refuse(response, 413, 'This is not a form of this page.');
    if (!isSame(form.get('token') ?? '', token) && !isOfThisOrigin(request)) {
      return refuse(response, 403, 'This form is not from this page. Reload it and try again.');
    }
    const which = whichOf(form);
    const action = form.get('action');
    if (which === undefined || (action !== 'requeue' && action !== 'remove')) {
      return refuse(response, 400, 'The form lacks a dead letter or an action.');
    }
    const number = await source[action](which);
    // Redirects to the page, so that a reload does not repeat the action. A relative URL works wherever the page is mounted.
    response
      .writeHead(303, { location: `?${action}=${number}`, 'cache-control': 'no-store' })
      .end();
  };

  const factsWith = (done: string | undefined) => ({
    title: source.title,
    nowMs: Date.now(),
    token,
    done,
  });

  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, `The page cannot be rendered: ${messageOf(error)}`);
    });
  };
}

function doneOf(url: string | undefined): string | undefined {
  const query = new URLSearchParams(url?.split('?', 2)[1]);
  for (const [action, word] of [
    ['requeue', 'requeued; a running process takes them within seconds'],
    ['remove', 'deleted'],
  ] as const) {
    const number = Number(query.get(action) ?? Number.NaN);
    if (Number.isSafeInteger(number)) return `${number} ${number === 1 ? 'job' : 'jobs'} ${word}.`;
  }
  return undefined;
}

/** Returns undefined if the body is larger than a form of this page can be. */
async function formOf(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const { body } = request as { body?: unknown };
  // A body parser of the app has already read it.
  if (typeof body === 'string') return new URLSearchParams(body);
  if (typeof body === 'object' && body !== null && !request.readable) {
    return new URLSearchParams(body as Record<string, string>);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxFormBytes) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

function whichOf(form: URLSearchParams): Which | undefined {
  const [id, job, sink] = ['id', 'job', 'sink'].map((name) => form.get(name));
  if (id != null) return { id };
  return job == null || sink == null ? undefined : { job, sink };
}

/* In a cluster the form may come from the page of another worker. A page cannot change the headers a browser sets itself. */
function isOfThisOrigin({ headers: said }: IncomingMessage): boolean {
  if (said['sec-fetch-site'] !== undefined) return said['sec-fetch-site'] === 'same-origin';
  const { origin = '', host } = said;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function isSame(given: string, token: string): boolean {
  return given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token));
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, headers).end(text);
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response
    .writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' })
    .end(`${sentence}\n`);
}
