/** A call to the store that was not answered yet. */
export interface PendingCall {
  readonly key: string;
  /** When it was made, on the clock of `performance.now()`. */
  issuedAt: number;
  isSettled: boolean;
  /** True once it was given a second deadline. */
  wasExtended: boolean;
  /** Next call in the queue. */
  next: PendingCall | undefined;
  /** Called when nobody waits for the answer any longer. */
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

  /** Answers come in the order of the calls, so this mostly takes the head and is done. */
  settle(call: PendingCall): void {
    call.isSettled = true;
    while (this.#head?.isSettled) {
      const { next }: PendingCall = this.#head;
      // Else one call that is never answered keeps every later one alive.
      this.#head.next = undefined;
      this.#head = next;
    }
    if (this.#head === undefined) this.#tail = undefined;
  }

  /** Gives up every call that waits. */
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
    // Timers run before the sockets are read: the answer may lie there already.
    if (this.#msLeft(now) <= 0) setImmediate(() => this.#expire());
    else this.#arm(now);
  }

  /* A timer this late measured our own event loop, not the store. Once per call, or an overloaded process would never find out. */
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
