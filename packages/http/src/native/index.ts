export type { LineLog } from './line-log.ts';
export { Connection, type ServerEvents } from './connection.ts';
export { credentials } from './tables.ts';
export { HeaderBlock } from './inbox.ts';
export { openPort, startErrno, type Port } from './port.ts';
export { NativeServer } from './server.ts';
export type { ClientError, Fill, ListenOptions, ServerSettings, SocketAddress } from './types.ts';
export { REQUEST_FLAGS, WRITE_FLAGS } from './wire.ts';
