// What every contender of the scenario `http` answers: a product as JSON, the sum of an order that is posted, a
// mebibyte in chunks, and the product after 5 ms of work. The texts come in the environment, so that all of them send the same bytes.
import process from 'node:process';
import { Readable } from 'node:stream';

export const product = process.env.PRODUCT ?? '{}';
export const json = 'application/json; charset=utf-8';
const chunk = Buffer.alloc(64 * 1024, 'redline ');
const chunks = 16;

/** A mebibyte, no faster than it is read. */
export function stream() {
  let left = chunks;
  return new Readable({
    highWaterMark: chunk.length,
    read() {
      this.push(left-- > 0 ? chunk : null);
    },
  });
}

/** The same for servers that speak the web's streams. */
export function webStream() {
  let left = chunks;
  return new ReadableStream(
    {
      pull(controller) {
        if (left-- > 0) controller.enqueue(chunk);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Keeps the CPU as long as a handler does that renders a page or hashes a password. */
export function work() {
  const end = performance.now() + 5;
  while (performance.now() < end);
}

export function sum({ lines }) {
  let cents = 0;
  for (const line of lines) cents += line.cents * line.count;
  return `{"lines":${lines.length},"cents":${cents}}`;
}
