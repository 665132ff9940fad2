import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RingWriter } from '../native/ring-writer.ts';
import { now } from '../native/clock.ts';
import { BEGIN, END, KIND, LEVEL, RING } from '../native/wire.ts';
import type { Place } from './requests.ts';

/** Longer heads are cut: Node's own limit is 16 KiB, and an app may raise it. */
const MAX_HEAD = 32_768;
const head = Buffer.alloc(MAX_HEAD);
const words = new Uint32Array(head.buffer, head.byteOffset, MAX_HEAD / 4);

/** Writes BEGIN. */
export function writeBegin(writer: RingWriter, request: IncomingMessage, place: Place): void {
  const hasHead = writer.ring[RING.LEVEL] === LEVEL.HEADS;
  const method = request.method ?? 'GET';
  const line = hasHead ? `${method} ${request.url ?? ''}` : method;
  const lineLength = head.write(line, 0, 'latin1');
  const end = hasHead ? writeHeaders(request.rawHeaders, lineLength) : lineLength;
  const isTls = 'encrypted' in request.socket;
  const readAt = now();
  do {
    writer.start(KIND.BEGIN);
    writer.word(place.slot);
    writer.word(place.generation);
    writer.word(place.sequence);
    writer.time(readAt);
    writer.word(lineLength);
    writer.word(end - lineLength);
    writer.word((request.httpVersionMinor === 0 ? BEGIN.HTTP_10 : 0) | (isTls ? BEGIN.IS_TLS : 0));
    for (let at = 0; at < (end + 3) >> 2; at++) writer.word(words[at]!);
  } while (writer.finish());
}

/** Writes END of a response that the client's system has taken. */
export function writeEnd(
  writer: RingWriter,
  response: ServerResponse,
  place: Place,
  route: number,
): void {
  const endedAt = now();
  do {
    writer.start(KIND.END);
    writer.word(place.slot);
    writer.word(place.generation);
    writer.word(place.sequence);
    writer.word((response.statusCode << END.STATUS_SHIFT) | route);
    writer.time(endedAt);
    writer.time(endedAt);
    writer.word(0);
  } while (writer.finish());
}

/** Returns the end of the header lines in `head`: whole lines alone. */
function writeHeaders(rawHeaders: readonly string[], start: number): number {
  let at = start;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const line = `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`;
    if (at + line.length > MAX_HEAD) break;
    at += head.write(line, at, 'latin1');
  }
  return at;
}
