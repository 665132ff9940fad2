// One message on the socket: length of the data (u32), id (u32), kind (u8), data.
import { Buffer } from 'node:buffer';

export const stdout = 1;
export const stderr = 2;
export const stdoutClose = 3;
const headBytes = 9;

export function frame(id, kind, data = Buffer.alloc(0)) {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(data.length, 0);
  head.writeUInt32LE(id, 4);
  head.writeUInt8(kind, 8);
  return Buffer.concat([head, data]);
}

export function readFrames(socket, onFrame) {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= headBytes) {
      const end = headBytes + rest.readUInt32LE(0);
      if (rest.length < end) return;
      onFrame(rest.readUInt32LE(4), rest.readUInt8(8), rest.subarray(headBytes, end));
      rest = rest.subarray(end);
    }
  });
}
