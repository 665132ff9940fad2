/// <reference types="node" />
import nodeChildProcess from 'node:child_process';
import { native } from './engine.ts';
import { exec as nativeExec } from './exec.ts';
import { execFile as nativeExecFile } from './exec-file.ts';
import { fork as nativeFork } from './fork.ts';
import { spawn as nativeSpawn } from './spawn.ts';

type NodeChildProcess = typeof nodeChildProcess;

export { engine, type Engine } from './engine.ts';
export { createPool, PoolError, type Pool, type PoolOptions } from './pool/index.ts';
export type * from 'node:child_process';
export { ChildProcess, execFileSync, execSync, spawnSync } from 'node:child_process';

export const spawn: NodeChildProcess['spawn'] = native
  ? (nativeSpawn as never)
  : nodeChildProcess.spawn;
export const fork: NodeChildProcess['fork'] = native
  ? (nativeFork as never)
  : nodeChildProcess.fork;
export const exec: NodeChildProcess['exec'] = native
  ? (nativeExec as never)
  : nodeChildProcess.exec;
export const execFile: NodeChildProcess['execFile'] = native
  ? (nativeExecFile as never)
  : nodeChildProcess.execFile;

const childProcess: NodeChildProcess = { ...nodeChildProcess, spawn, fork, exec, execFile };
export default childProcess;
