/** Lines queued in the engine. */
export interface LineSource {
  /** True if lines may be queued. Costs one memory read. */
  readonly waits: boolean;
  /** The server has stopped: once `take` returns 0, no more lines follow. */
  readonly isOver: boolean;
  /** Moves the oldest whole lines to `into`, starting at `offset`; returns the number of bytes. */
  take(into: Buffer, offset: number): number;
  /** Stops the engine from sending responses that have a line: the next lines taken are the last ones. */
  hold(): void;
}

/** Destination of the engine's lines. It pulls them, and so controls their order and handles slow readers. */
export interface LineSink {
  /** Number of queued bytes from which lines are reported as due. */
  readonly dueBytes: number;
  /** Called once per listening server. */
  attach(source: LineSource): void;
  /** Signals queued lines. Due ones must be taken now, others soon, and before any later line. */
  linesWait(areDue: boolean): void;
  /** Takes and writes the last lines before it returns: the process ends. */
  end(): void;
}
