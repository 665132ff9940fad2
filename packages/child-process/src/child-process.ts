import { native } from './native/engine.ts';
import { exec as nativeExec, execFile as nativeExecFile } from './calls/exec-file.ts';
import {
  execFileSync as nativeExecFileSync,
  execSync as nativeExecSync,
  spawnSync as nativeSpawnSync,
} from './calls/sync.ts';
import { fork as nativeFork } from './calls/fork.ts';
import { addModuleObject, nodeChildProcess } from './node/node-child-process.ts';
import { spawn as nativeSpawn } from './calls/spawn.ts';

export { addModuleObject };

type NodeChildProcess = typeof nodeChildProcess;

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
export const spawnSync: NodeChildProcess['spawnSync'] = native
  ? (nativeSpawnSync as never)
  : nodeChildProcess.spawnSync;
export const execSync: NodeChildProcess['execSync'] = native
  ? (nativeExecSync as never)
  : nodeChildProcess.execSync;
export const execFileSync: NodeChildProcess['execFileSync'] = native
  ? (nativeExecFileSync as never)
  : nodeChildProcess.execFileSync;

/** The whole module, like `node:child_process`. */
export const childProcess: NodeChildProcess = {
  ...nodeChildProcess,
  spawn,
  fork,
  exec,
  execFile,
  spawnSync,
  execSync,
  execFileSync,
};

if (native) addModuleObject(childProcess);
