import { createReadStream, mkdtempSync, rmSync, writeFileSync, type ReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Step } from './case.ts';

/** Does one step of a handler, and notes what it throws or is called back with. */
export async function runStep(
  step: Step,
  index: number,
  request: IncomingMessage,
  response: ServerResponse,
  note: (text: string) => void,
): Promise<void> {
  const { socket } = request;
  const called = (error?: NodeJS.ErrnoException | null): void =>
    note(`callback ${index} ${error?.code ?? error?.message ?? 'ok'}`);
  try {
    switch (step.do) {
      case 'writeHead':
        response.writeHead(step.status, step.headers);
        return;
      case 'setHeader':
        response.setHeader(step.name, step.value);
        return;
      case 'write':
        response.write(text(index, step.bytes), called);
        return;
      case 'end':
        if (step.bytes === 0) response.end(called);
        else response.end(text(index, step.bytes), called);
        return;
      case 'socketWrite':
        socket.write(step.text, called);
        return;
      case 'timeout':
        return void (await new Promise((resolve) => setTimeout(resolve, step.ms)));
      case 'pipeFile': {
        const { ends = true, ...options } = step.options;
        const stream = createReadStream(fileOf(step.bytes), options);
        stream.on('error', (error: NodeJS.ErrnoException) => note(`file ${index} ${error.code}`));
        streamsOf(response).push(stream);
        stream.pipe(response, { end: ends });
        return;
      }
      case 'filesClosed':
        return filesClosed(response);
      case 'cork':
      case 'flushHeaders':
      case 'writeContinue':
      case 'writeProcessing':
      case 'destroy':
        response[step.do]();
        return;
      case 'uncork':
        // One too many turns Node's order of bytes round.
        if (response.writableCorked > 0) response.uncork();
        return;
      case 'addTrailers':
        response.addTrailers({ 'X-Sum': '1' });
        return;
      case 'destroyError':
        response.destroy(new Error('wanted'));
        return;
      case 'requestDestroy':
        request.destroy();
        return;
      case 'requestResume':
        request.resume();
        return;
      case 'requestPause':
        request.pause();
        return;
      case 'readAll':
        request.on('data', () => {});
        if (!request.readableEnded && !request.destroyed) {
          await new Promise((resolve) => request.once('end', resolve).once('close', resolve));
        }
        return;
      case 'socketEnd':
        socket.end();
        return;
      case 'socketDestroy':
        socket.destroy();
        return;
      case 'socketDestroySoon':
        (socket as typeof socket & { destroySoon(): void }).destroySoon();
        return;
      case 'socketPause':
        socket.pause();
        return;
      case 'socketResume':
        socket.resume();
        return;
      case 'tick':
        return void (await new Promise<void>((resolve) => process.nextTick(resolve)));
      case 'microtask':
        return void (await undefined);
      case 'immediate':
        return void (await new Promise((resolve) => setImmediate(resolve)));
    }
  } catch (error) {
    if ('uncorks' in step) socket.uncork();
    note(`step ${index} threw ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** A letter for each step, so that a transcript shows which of them left. */
function text(index: number, bytes: number): string {
  return String.fromCharCode(65 + (index % 26)).repeat(bytes);
}

/** The streams that a handler has piped into its response. */
const piped = new WeakMap<ServerResponse, ReadStream[]>();

function streamsOf(response: ServerResponse): ReadStream[] {
  const streams = piped.get(response) ?? [];
  piped.set(response, streams);
  return streams;
}

/** As handlers do it, a stream whose response is gone is destroyed. */
async function filesClosed(response: ServerResponse): Promise<void> {
  for (const stream of streamsOf(response)) {
    if (response.destroyed) stream.destroy();
    else response.once('close', () => stream.destroy());
    if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve));
  }
}

let folder: string | undefined;

/** A file whose bytes tell their place. */
function fileOf(bytes: number): string {
  if (folder === undefined) {
    const made = (folder = mkdtempSync(join(tmpdir(), 'redline-http-fuzz-')));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  const path = join(folder, String(bytes));
  if (!known.has(path)) {
    let content = '';
    while (content.length < bytes) content += `${content.length.toString(36)} `;
    writeFileSync(path, content.slice(0, bytes));
    known.add(path);
  }
  return path;
}
const known = new Set<string>();
