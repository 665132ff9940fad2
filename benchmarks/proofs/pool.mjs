// A pool of ten clients, and a database that answers in the next turn of the event loop. Costs of known size can be put into
// five places of an app: SPIN='{"handler":50}', in µs.
import { BusyLoop } from './busy-loop.mjs';

const free = Array.from({ length: 10 }, (_, id) => ({ id }));
const waiting = [];
const loops = Object.fromEntries(
  Object.entries(JSON.parse(process.env.SPIN ?? '{}')).map(([place, micros]) => [
    place,
    new BusyLoop(micros),
  ]),
);

export function spin(place) {
  loops[place]?.run();
}

export async function withClient(work) {
  const client = free.pop() ?? (await new Promise((resolve) => waiting.push(resolve)));
  try {
    return await work(client);
  } finally {
    const next = waiting.shift();
    if (next) next(client);
    else free.push(client);
  }
}

export function query(client, text) {
  return new Promise((resolve) => setImmediate(resolve, [{ id: client.id, text }]));
}
