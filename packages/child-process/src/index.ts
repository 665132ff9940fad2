/// <reference types="node" />
export { engine, type Engine } from './native/engine.ts';
export { killTree } from './calls/kill-tree.ts';
export { reapOrphans } from './calls/reap-orphans.ts';
export { ChildProcessError, type ChildProcessErrorCode } from './errors.ts';
export type { ChildResourceUsage, ExtraOptions, KillTreeOptions } from './options.ts';
export type {
  ChildTimes,
  EndMessage,
  QueueMessage,
  StartMessage,
  UsageMessage,
} from './child/monitor.ts';
export { createPool, PoolError, type Pool, type PoolOptions } from './pool/index.ts';
export type * from 'node:child_process';
export { ChildProcess } from 'node:child_process';
export {
  exec,
  execFile,
  execFileSync,
  execSync,
  fork,
  spawn,
  spawnSync,
  childProcess as default,
} from './child-process.ts';
