import type { Serving } from '../preload/protocol.ts';

/** Cost of a replaced method, by its owner and name; the first match counts. */
const costs: readonly [method: RegExp, cost: string][] = [
  [
    /^http\.ServerResponse\.prototype\.emit$/,
    'each response emits its events, also those without a listener',
  ],
  [
    /^http\.IncomingMessage\.prototype\.emit$/,
    'each request emits the events of a stream, also one without a body',
  ],
  [
    /^http\.ServerResponse\.prototype\.(end|write|flushHeaders)$/,
    'each response that calls it is framed and written by JavaScript, over a socket',
  ],
  [/^http\.ServerResponse\./, 'each response is framed and written by JavaScript, over a socket'],
  [/^http\.IncomingMessage\./, 'each request is a stream from its start'],
];

/** Explains why a server created by @redline/http does not use its fast path: the replaced method, and its cost. */
export function servingWarnings(serving: Serving | undefined): string[] {
  if (serving === undefined) return [];
  const { name, reason, replaced = [] } = serving;
  if (name === 'node') {
    return [
      `@redline/http is loaded, but Node's own server serves the requests: ${reason}. Without that they are the engine's.`,
    ];
  }
  return replaced.map((method) => {
    const [, cost = 'the engine calls it'] = costs.find(([pattern]) => pattern.test(method)) ?? [];
    return `${method} was replaced, as an agent does: ${cost}, which takes some of what @redline/http gains. Without the agent it is all there; redline try measures both.`;
  });
}
