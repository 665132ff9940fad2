import { percent } from '../report/format.ts';

export type ThreadKind = 'main thread' | 'process' | 'worker thread';

/** The profiled thread of a server with several threads that run JavaScript. */
export interface ProfiledThread {
  /** `process`: its main thread. */
  kind: ThreadKind;
  pid: number;
  /** Name of the script of a worker thread. */
  script?: string;
  /** Node processes, and the JavaScript threads of those with work. */
  processes: number;
  threads: number;
  /** Share of the CPU that the server and its processes used during the profile, 0 to 1. */
  share: number;
}

/** Returns, for example, `process 4242, the busiest of 3, with 49 % of the server's CPU`. */
export function profiledText({
  kind,
  pid,
  script,
  processes,
  threads,
  share,
}: ProfiledThread): string {
  const what =
    kind === 'process'
      ? `process ${pid}, the busiest of ${processes}`
      : kind === 'main thread'
        ? `the main thread, the busiest of ${threads}`
        : `a worker thread (${script ?? 'unknown script'}), the busiest of ${threads} threads`;
  return `${what}, with ${percent(share)} of the server’s CPU`;
}

/** Names the threads whose CPU is divided by the requests. */
export function threadsText(profiled: ProfiledThread | undefined): string {
  switch (profiled?.kind) {
    case 'process':
      return 'main threads';
    case 'worker thread':
      return 'worker threads';
    default:
      return 'main thread';
  }
}
