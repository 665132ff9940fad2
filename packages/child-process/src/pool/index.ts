export {
  createPool,
  type Pool,
  type PoolExec,
  type PoolExecFile,
  type PipedPoolChild,
  type PoolSpawn,
  type PromiseWithChild,
} from './create-pool.ts';
export type { Balance } from './options.ts';
export type { CloseOptions } from './process-pool.ts';
export { PoolError, type PoolErrorCode } from './errors.ts';
export type { ExecError, PoolExecCallback, PoolExecOptions } from './exec-file.ts';
export type { PoolOptions, Transport } from './options.ts';
export type { PoolChild } from './pool-child.ts';
export type { PoolSpawnOptions, PoolStdio } from './spawn-request.ts';
