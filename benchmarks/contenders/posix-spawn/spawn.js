// `spawn` and `spawnSync` with posix_spawn on the main thread, as libuv's main branch starts children. `spawn`: Node's own
// ChildProcess, pipes and sockets, over a handle whose `spawn` is the addon's; `spawnSync`: the addon's. For Node 24 on Linux.
import { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import process from 'node:process';

const addonFile = new URL('../build/posix-spawn/release/libposix_spawn.so', import.meta.url);
const addon = { exports: {} };
process.dlopen(addon, addonFile.pathname);
const { start, reap, run } = addon.exports;

const IGNORE = -1;
const PIPE = -2;
const signalNames = Object.fromEntries(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** Handles of children that have not ended, by process. */
const running = new Map();
/** Keeps the loop alive while there are some. */
const alive = setInterval(() => {}, 2 ** 30).unref();
process.on('SIGCHLD', () => {
  for (const { pid, code, signal } of reap([...running.keys()])) {
    const handle = running.get(pid);
    running.delete(pid);
    handle.onexit(code, signal === 0 ? '' : signalNames[signal]);
  }
  if (running.size === 0) alive.unref();
});

/** What stands where Node has its Process handle. */
class Handle {
  constructor(onexit) {
    // eslint-disable-next-line unicorn/prefer-add-event-listener -- it is the name that Node gives it
    this.onexit = onexit;
  }

  spawn(file, args, cwd, envPairs, stdio) {
    const codes = stdio.map(({ type, fd }) =>
      type === 'pipe' ? PIPE : type === 'ignore' ? IGNORE : fd,
    );
    const { pid, nearEnds } = start(file, args, envPairs, cwd || undefined, codes);
    for (const [index, fd] of nearEnds.entries()) if (fd >= 0) stdio[index].handle.open(fd);
    if (pid < 0) return pid;
    this.pid = pid;
    if (running.size === 0) alive.ref();
    running.set(pid, this);
    return 0;
  }

  kill(signal) {
    process.kill(this.pid, signal);
    return 0;
  }

  close() {}
  ref() {}
  unref() {}
  hasRef() {
    return true;
  }
}

/** As `spawn` of node:child_process, for options that the scenarios use. */
export function spawn(file, args = [], options = {}) {
  const child = new ChildProcess();
  const { onexit } = child._handle;
  child._handle = new Handle(onexit);
  child.spawn({ ...options, file, args: [file, ...args], envPairs: pairsOf(options.env) });
  return child;
}

/** As `spawnSync` of node:child_process, with its default options. */
export function spawnSync(file, args = []) {
  const { pid, code, signal, stdout, stderr } = run(file, [file, ...args], pairsOf(process.env));
  return {
    pid,
    status: signal === 0 ? code : null,
    signal: signal === 0 ? null : signalNames[signal],
    output: [null, stdout, stderr],
    stdout,
    stderr,
  };
}

function pairsOf(env = process.env) {
  return Object.keys(env).map((key) => `${key}=${env[key]}`);
}
