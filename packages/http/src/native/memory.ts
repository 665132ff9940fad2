import { COMMAND, OUTSTANDING } from './wire.ts';

const COMMANDS = 4096;
const MEBIBYTE = 1024 * 1024;

/** Memory shared by the engine and JavaScript. The kernel maps pages on first use, so most of it costs nothing. */
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
    commands: new Uint32Array(OUTSTANDING.FIRST_COMMAND + COMMANDS * COMMAND.WORDS),
    output: Buffer.from(new ArrayBuffer(MEBIBYTE)),
    pending: new Uint32Array(MEBIBYTE),
  };
}
