import { createConnection, type NetConnectOpts, type Socket } from 'node:net';

/** Written to the socket, or waited for in what came since the last match, or done. */
export type Step = string | Buffer | RegExp | 'FIN' | (() => unknown);

export interface Conversation {
  /** All that the server sent, as latin1, the date masked. */
  received: string;
  /** `late`: what was waited for did not come in time. */
  end: 'closed' | 'open' | 'late';
}

/** Long enough for a loaded machine: a behaviour that works never waits for it. */
const patienceMs = 40_000;

/** A client that speaks bytes. After the last step it waits for the server to close, unless that step is `leave`. */
export async function talk(to: number | NetConnectOpts, ...steps: Step[]): Promise<Conversation> {
  const line = new Line(connect(to));
  try {
    return await line.follow(steps);
  } finally {
    line.socket.destroy();
  }
}

/** Ends a conversation that the server keeps open. */
export function leave(): void {}

export function connect(to: number | NetConnectOpts): Socket {
  const options = typeof to === 'number' ? { port: to, host: '127.0.0.1' } : to;
  return createConnection({ ...options, allowHalfOpen: true });
}

/** One end of a connection, and what came over it. */
export class Line {
  readonly socket: Socket;
  #text = '';
  #read = 0;
  #closed = false;
  #waiting: (() => void) | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay();
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      this.#waiting?.();
    });
    const close = () => {
      this.#closed = true;
      this.#waiting?.();
    };
    // A reset and an orderly end differ by what the kernel still held: which of the two it is depends on the moment.
    socket.on('end', close).on('error', close).on('close', close);
  }

  get received(): string {
    return maskDate(this.#text);
  }

  get closed(): boolean {
    return this.#closed;
  }

  async follow(steps: readonly Step[]): Promise<Conversation> {
    for (const step of steps) {
      if (step === leave) return { received: this.received, end: this.#closed ? 'closed' : 'open' };
      if (!(await this.#take(step))) return { received: this.received, end: 'late' };
    }
    const ended = await this.untilClosed();
    return { received: this.received, end: ended ? 'closed' : 'late' };
  }

  /** @returns whether it came before the connection closed or the time was up */
  async until(pattern: RegExp): Promise<boolean> {
    const sticky = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`);
    return this.#wait(() => {
      sticky.lastIndex = this.#read;
      if (!sticky.test(this.#text)) return false;
      this.#read = sticky.lastIndex;
      return true;
    });
  }

  async untilClosed(): Promise<boolean> {
    await this.#wait(() => this.#closed);
    return this.#closed;
  }

  async #take(step: Step): Promise<boolean> {
    if (step instanceof RegExp) return this.until(step);
    if (typeof step === 'function') await step();
    else if (step === 'FIN') this.socket.end();
    else this.socket.write(step as string, 'latin1');
    return true;
  }

  async #wait(isDone: () => boolean): Promise<boolean> {
    const deadline = Date.now() + patienceMs;
    while (!isDone()) {
      const left = deadline - Date.now();
      if (this.#closed || left <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#waiting = undefined;
    }
    return true;
  }
}

export function maskDate(text: string): string {
  return text.replaceAll(/^(date): .*? GMT\r$/gim, '$1: now\r');
}

/** Without what the server says of its keep-alive timeout. */
export function maskKeepAlive({ received, end }: Conversation): Conversation {
  return { received: received.replaceAll(/^(keep-alive): .*\r$/gim, '$1: so long\r'), end };
}
