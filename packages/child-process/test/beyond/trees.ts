// Processes that descend from a child, made by /bin/sh.
import { readdirSync, readFileSync } from 'node:fs';

/** A number that is in the command line of each process of a tree, and of no other. */
export function newMark(): string {
  return `${process.pid}${Math.trunc(Math.random() * 1e9)}`;
}

/** The processes with a mark that have not ended. */
export function alive(mark: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isMarked(name, mark));
}

function isMarked(pid: string, mark: string): boolean {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    return line.includes(mark) && !/^[ZXx]/.test(rest!) && Number(pid) !== process.pid;
  } catch {
    return false;
  }
}

/** A shell's script of processes that start others until they are killed: children, sessions, orphans, with and without environment. */
export function forking(mark: string, count: number): string {
  const loop = `while :; do sleep 60.${mark} & sleep 1.${mark}; done`;
  const kinds = [
    `sh -c '${loop}' ${mark} &`,
    `setsid sh -c '${loop}' ${mark} &`,
    `(setsid sh -c '${loop}' ${mark} &);`,
    `env -i PATH="$PATH" sh -c '${loop}' ${mark} &`,
    `sh -c 'trap "" TERM HUP INT; ${loop}' ${mark} &`,
  ];
  return `i=0; while [ $i -lt ${Math.ceil(count / kinds.length)} ]; do ${kinds.join(' ')} i=$((i+1)); done; echo ready; while :; do sleep 1.${mark}; done`;
}
