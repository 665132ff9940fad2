// Puts costs of known size into places of an app, by their names: SPIN='{"handler":50}', in µs.
import { BusyLoop } from './busy-loop.mjs';

const loops = Object.fromEntries(
  Object.entries(JSON.parse(process.env.SPIN ?? '{}')).map(([place, micros]) => [
    place,
    new BusyLoop(micros),
  ]),
);

export function spin(place) {
  loops[place]?.run();
}
