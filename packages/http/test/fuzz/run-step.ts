import type { IncomingMessage, ServerResponse } from 'node:http';
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
