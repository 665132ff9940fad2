import type { Case, Step } from '../case.ts';
import type { Difference } from './difference.ts';
import { behindEnd } from './programs.ts';

/** How often a client looks away before it sends on: as long as handlers wait. */
const patience = 3;

/** The client sends each line, and each body, when the server has done with what came before. */
export function lineByLine(of: Case): Case {
  const { bytes } = of;
  const lines = [...bytes.matchAll(/(?<=\n)|(?=(?:GET|HEAD|POST|DELETE) )/g)];
  const bodies = [...bytes.matchAll(/(?<=^content-length: *(\d+)\r?\n(?:.+\n)*?\r?\n)/gim)];
  const starts = [
    ...lines.map(({ index }) => index),
    ...bodies.map(({ index, 1: length }) => index + Number(length)),
    // One that resets the connection does so no earlier than before.
    ...(of.ending === 'destroy' ? of.cuts : []),
  ];
  const cuts = starts
    .filter((at) => at > 0 && at < bytes.length)
    .toSorted((one, other) => one - other)
    .flatMap((at) => Array<number>(patience).fill(at));
  return { ...of, cuts };
}

/** Handlers of responses that wait for their turn do not do this behind their end. */
export function withoutBehindEnd(of: Case, what: Step['do']): Case {
  const [first = [], ...others] = of.programs;
  const programs = others.map((steps) =>
    // The letters of a body tell the number of the step, so there are as many.
    steps.map((step, at) =>
      step.do === what && behindEnd(steps, at) ? { do: 'microtask' as const } : step,
    ),
  );
  return { ...of, programs: [first, ...programs] };
}

/** The client sends no more than the requests, which are sound, that the engine's handlers have heard of. */
export function asFarAsHeard({ case: of, redline }: Difference): Case {
  const bytes = of.bytes.slice(0, startOf(of, redline.requests.length));
  const cuts = of.cuts.filter((cut) => cut < bytes.length);
  if (of.ending !== 'destroy') return { ...of, bytes, cuts };
  // One that resets the connection does so no earlier than before. An empty line behind a request is nothing.
  const wait = Array<number>(patience * 4).fill(bytes.length);
  return { ...of, bytes: `${bytes}\r\n`, cuts: [...cuts, ...wait] };
}

/** The client sends no more than the first pieces of the last body that the engine's handlers have heard of. */
export function beforeEndOfBody({ case: of, redline }: Difference): Case[] {
  const start = startOf(of, redline.requests.length - 1);
  return of.cuts
    .filter((cut) => cut > start)
    .map((last) => ({
      ...of,
      bytes: of.bytes.slice(0, last),
      cuts: of.cuts.filter((cut) => cut < last),
      ending: 'wait',
    }));
}

/** Nothing is due when what is refused comes. */
export function dueLeft({ case: of, redline }: Difference): Case {
  if (of.programs.length === 0) return lineByLine(of);
  // Of sound requests only those are refused that stand behind one that closes.
  const refused = Array<number>(patience * 4).fill(startOf(of, redline.requests.length));
  const cuts = [...of.cuts, ...refused].filter((cut) => cut < of.bytes.length);
  return { ...of, cuts: cuts.toSorted((one, other) => one - other) };
}

function startOf({ bytes }: Case, request: number): number {
  const starts = [...bytes.matchAll(/(?:GET|HEAD|POST|DELETE) /g)];
  return starts[request]?.index ?? bytes.length;
}

/** Sockets are uncorked behind an end that throws. */
export function uncorked({ case: of }: Difference): Case {
  const programs = of.programs.map((steps) =>
    steps.map((step) => (step.do === 'end' ? { ...step, uncorks: true } : step)),
  );
  return { ...of, programs };
}
