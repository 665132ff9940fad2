/** Lines that wait in the engine. */
export interface LineSource {
  /** Whether any may wait. Costs a look at memory. */
  readonly waits: boolean;
  /** Its server has stopped: once `take` brings nothing, nothing more comes. */
  readonly isOver: boolean;
  /** Moves the oldest lines, whole ones, to `into` from `offset` on, and returns how many bytes. */
  take(into: Buffer, offset: number): number;
  /** From here on the engine gives no answer that has a line: what is taken next are the last ones. */
  hold(): void;
}

/** Where the lines go that the engine writes: it takes them, so that the order of lines and a slow reader are its to mind. */
export interface LineSink {
  /** From so many waiting bytes on lines are reported as due. */
  readonly dueBytes: number;
  /** Called once for each server that listens. */
  attach(source: LineSource): void;
  /** Lines wait. Those that are due are to be taken now, others before long, and before a line that comes later. */
  linesWait(areDue: boolean): void;
  /** Takes the last lines and writes them before it returns: the process ends. */
  end(): void;
}
