import { aborts } from './aborts.ts';
import { atFinish } from './at-finish.ts';
import { bodies } from './bodies.ts';
import { chunks } from './chunks.ts';
import { clientErrors } from './client-errors.ts';
import { closing } from './closing.ts';
import { connections } from './connections.ts';
import type { Behaviours } from './engine.ts';
import { emptyRequests } from './empty-requests.ts';
import { expectations } from './expectations.ts';
import { files } from './files.ts';
import { framing } from './framing.ts';
import { greed } from './greed.ts';
import { headers } from './headers.ts';
import { heldWrites } from './held-writes.ts';
import { largePieces } from './large-pieces.ts';
import { limits } from './limits.ts';
import { listening } from './listening.ts';
import { pipelines } from './pipelines.ts';
import { rawSockets } from './raw-sockets.ts';
import { refusals } from './refusals.ts';
import { responseHeads } from './response-heads.ts';
import { responses } from './responses.ts';
import { sentSockets } from './sent-sockets.ts';
import { signals } from './signals.ts';
import { streams } from './streams.ts';
import { surroundings } from './surroundings.ts';
import { thrown } from './thrown.ts';
import { upgrades } from './upgrades.ts';

/**
 * Suites whose behaviours mostly wait, and tell of bytes: several may run at once. The others touch what the whole process
 * has, or tell of the order of events, which a turn that is shared with other connections may cut differently.
 */
const together = new Set([
  'bodies',
  'headers',
  'responses',
  'heads of responses',
  'limits',
  'framing',
  'listening',
  'greed',
  'large pieces',
]);

/** How many behaviours of a suite may run at once. */
export function atATime(suite: string): number {
  return together.has(suite) ? 4 : 1;
}

export const suites: Record<string, Behaviours> = {
  connections,
  bodies,
  'chunks that arrive together': chunks,
  'empty requests': emptyRequests,
  expectations,
  headers,
  responses,
  'heads of responses': responseHeads,
  'at the end of responses': atFinish,
  limits,
  'client errors': clientErrors,
  refusals,
  closing,
  pipelines,
  'raw sockets': rawSockets,
  'writes of a tick': heldWrites,
  framing,
  aborts,
  upgrades,
  listening,
  greed,
  streams,
  files,
  'large pieces': largePieces,
  'sockets that are sent': sentSockets,
  signals,
  surroundings,
  thrown,
};
