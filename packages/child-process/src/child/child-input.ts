import { Socket } from 'node:net';
import { native } from '../native/engine.ts';
import { closedSocket, pastInput } from '../native/late-socket.ts';
import { openPipe, type Pipe } from '../native/pipe.ts';
import { port } from '../native/port.ts';

/** The near end of a child's stdin, whose socket is made on first access. */
export class ChildInput {
  readonly #id: number;
  #isClosed = false;
  #isSpawned = false;
  /** Ends it, if the program ended it before "spawn". */
  #end: (() => void) | undefined;

  constructor(id: number) {
    this.#id = id;
  }

  /** True once it has no reader. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Called after "spawn" was emitted. */
  onSpawned(): void {
    this.#isSpawned = true;
    this.#end?.();
  }

  /** The process has ended or never ran. */
  close(): void {
    this.#isClosed = true;
  }

  /** Creates the socket; `isPast` if the child has emitted "close". */
  open(isPast: boolean): Socket {
    if (isPast) return pastInput();
    if (this.#isClosed) {
      port().closeStream(this.#id, 0);
      return closedSocket();
    }
    const { fd } = port().take(this.#id, 0);
    if (fd < 0) return closedSocket();
    const pipe = openPipe(native!.Pipe, fd);
    if (!this.#isSpawned) this.#holdEnd(pipe);
    return new Socket({ handle: pipe, readable: false } as object);
  }

  /** "finish" and "close" come after "spawn": the end is delayed until then. */
  #holdEnd(pipe: Pipe): void {
    const { shutdown } = pipe;
    pipe.shutdown = (request) => {
      if (this.#isSpawned) return shutdown.call(pipe, request);
      this.#end = () => {
        const errno = shutdown.call(pipe, request);
        if (errno !== 0) request.oncomplete(errno);
      };
      return 0;
    };
  }
}
