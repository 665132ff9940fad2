/// <reference types="node" />
export { engine, type Engine } from './native/engine.ts';
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
