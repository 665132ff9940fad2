/// <reference types="node" />
export { engine, type Engine } from './engine.ts';
export { createPool, PoolError, type Pool, type PoolOptions } from './pool/index.ts';
export type * from 'node:child_process';
export { ChildProcess, execFileSync, execSync, spawnSync } from 'node:child_process';
export { exec, execFile, fork, spawn, childProcess as default } from './child-process.ts';
