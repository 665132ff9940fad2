/** Words of an event's begin: kind and length, slot, generation, server. */
export const START_WORDS = 4;
/** Where the commands begin. The words before are shared with a thread that sends; the engine tells them. */
export const FIRST_COMMAND = 5;
/** The word that says where the commands end. */
export const WRITTEN = 0;
/** The word that is 0 while a thread looks after what is written. */
export const UNWATCHED = 2;
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
  return {
    records: new Uint32Array(64 * 1024),
    input: Buffer.from(new ArrayBuffer(MEBIBYTE)),
    commands: new Uint32Array(FIRST_COMMAND + COMMANDS * COMMAND_WORDS),
    output: Buffer.from(new ArrayBuffer(MEBIBYTE)),
    pending: new Uint32Array(MEBIBYTE),
  };
}
