import { CacheError } from '../errors.ts';

/** A call to the store that has no response yet. */
export interface PendingCall {
  readonly key: string;
  /** Time of the call, on the clock of `performance.now()`. */
  issuedAt: number;
  isSettled: boolean;
  /** True once it was given a second deadline. */
  wasExtended: boolean;
  next: PendingCall | undefined;
  /** Called when the response is no longer waited for. */
  giveUp(): void;
}

/**
 * One deadline for every call to the store, with one timer for all of them: a timer per command costs more
 * than the rest of a hit.
 */
export class DeadlineQueue {
  readonly #timeoutMs: number;
  readonly #onOverdue: (call: PendingCall) => void;
  #head: PendingCall | undefined;
  #tail: PendingCall | undefined;
  #timer: NodeJS.Timeout | undefined;
  #firesAt = 0;

  constructor(timeoutMs: number, onOverdue: (call: PendingCall) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onOverdue = onOverdue;
  }

  add(call: PendingCall): void {
    if (this.#tail === undefined) this.#head = call;
    else this.#tail.next = call;
    this.#tail = call;
    if (this.#timer === undefined) this.#arm(call.issuedAt);
  }

  /** Settles a call. Responses arrive in the order of the calls, so usually this only removes the head. */
  settle(call: PendingCall): void {
    call.isSettled = true;
    while (this.#head?.isSettled) {
      const { next }: PendingCall = this.#head;
      // Otherwise a call without a response would keep every later one alive.
      this.#head.next = undefined;
      this.#head = next;
    }
    if (this.#head === undefined) this.#tail = undefined;
  }

  /** Gives up every pending call. */
  drain(): void {
    let call = this.#head;
    this.#head = undefined;
    this.#tail = undefined;
    while (call !== undefined) {
      const { next }: PendingCall = call;
      call.next = undefined;
      if (!call.isSettled) {
        call.isSettled = true;
        call.giveUp();
      }
      call = next;
    }
  }

  #fire(): void {
    const now = performance.now();
    const wasStalled = now - this.#firesAt > this.#timeoutMs / 2;
    if (wasStalled) this.#extend(now);
    // Timers run before the sockets are read: the response may have arrived already.
    if (this.#msLeft(now) <= 0) setImmediate(() => this.#expire());
    else this.#arm(now);
  }

  /* A timer this late measured our own event loop, not the store. Once per call: an overloaded process would never find out. */
  #extend(now: number): void {
    for (let call = this.#head; call !== undefined; call = call.next) {
      if (call.wasExtended) continue;
      call.wasExtended = true;
      call.issuedAt = now;
    }
  }

  #expire(): void {
    const now = performance.now();
    if (this.#head !== undefined && this.#msLeft(now) <= 0) this.#onOverdue(this.#head);
    this.#arm(now);
  }

  #msLeft(now: number): number {
    return this.#head === undefined ? Infinity : this.#head.issuedAt + this.#timeoutMs - now;
  }

  #arm(now: number): void {
    this.#timer = undefined;
    if (this.#head === undefined) return;
    // A call may be overdue by now, and Node warns of a negative delay.
    const delayMs = Math.max(0, this.#msLeft(now));
    this.#firesAt = now + delayMs;
    this.#timer = setTimeout(() => this.#fire(), delayMs);
    this.#timer.unref();
  }
}

/** Settles like `answer`, and rejects if that takes longer than `ms`. */
export async function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const text = `The server did not respond within ${ms} ms.`;
    reject(new CacheError('ERR_REDLINE_CACHE_STORE_TIMEOUT', text));
  }, ms);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
