/** Words of an event's begin: kind and length, slot, generation, server. */
export const START_WORDS = 4;
/** Words of a command. */
export const COMMAND_WORDS = 6;

const COMMANDS = 4096;
const MEBIBYTE = 1024 * 1024;

/** The memory the engine and JavaScript share. The kernel gives pages as they are touched, so most of it costs nothing. */
export interface SharedMemory {
  readonly records: Uint32Array;
  readonly input: Buffer;
  readonly commands: Uint32Array;
  readonly output: Buffer;
  readonly pending: Uint32Array;
}

export function allocate(): SharedMemory {
  const memory = {
    records: new Uint32Array(64 * 1024),
    input: Buffer.from(new ArrayBuffer(MEBIBYTE)),
    commands: new Uint32Array(1 + COMMANDS * COMMAND_WORDS),
    output: Buffer.from(new ArrayBuffer(MEBIBYTE)),
    pending: new Uint32Array(MEBIBYTE),
  };
  memory.commands[0] = 1;
  return memory;
}
