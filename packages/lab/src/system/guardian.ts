import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { ancestorsOf } from './marked.ts';

/**
 * Servers and loads have their own process groups, so that Ctrl-C only reaches the runner. A killed runner can no longer end them:
 * a shell that waits for the end of a pipe then does it, and costs nothing until then. A runner that is killed while it starts a
 * child cannot report its pid: the shell searches for such a child by its environment for a second, because the child only has that
 * environment once it runs its program. A daemon that a server has started is in another group, and is found by its environment
 * too; a program of the user that was given that environment is not ours to end, and is recognised by its parent. A process that is
 * starting its program has no environment for a moment, so the search is repeated.
 */
const script = `ancestors=$1 held= starting=
while read -r word what; do
  case $word in
    start) starting=$what ;;
    hold) held="$held $what" starting= ;;
    failed) starting= ;;
    drop)
      rest=
      for each in $held; do [ "$each" = "$what" ] || rest="$rest $each"; done
      held=$rest ;;
  esac
done
for each in $held; do kill -s KILL -- "-\${each%:*}" 2>/dev/null; done
[ -n "$held" ] && for again in 1 2 3 4 5; do
  for each in $held; do
    mark=\${each#*:}
    for pid in $(grep -lsF "$mark" /proc/[0-9]*/environ); do
      pid=\${pid#/proc/} pid=\${pid%/environ}
      read -r stat 2>/dev/null </proc/$pid/stat || continue
      stat=\${stat##*) } parent=\${stat#* } parent=\${parent%% *}
      case " $ancestors " in
        *" $parent "*) ;;
        *) grep -qsF "$mark" "/proc/$parent/environ" || continue ;;
      esac
      kill -s KILL "$pid" 2>/dev/null
    done
  done
  sleep 0.1
done
[ -n "$starting" ] || exit 0
for again in 1 2 3 4 5 6 7 8 9 10; do
  for each in $(grep -lsF "$starting" /proc/[0-9]*/environ); do
    each=\${each#/proc/}
    kill -s KILL -- "-\${each%/environ}" 2>/dev/null
  done
  sleep 0.1
done
`;

/** Environment variable by which a child is found. */
export type Mark = Readonly<{ REDLINE_STARTED_AS: string }>;

let pipe: Writable | undefined;

/** Starts a child whose process group is ended when this process ends for any reason, unless the group is released first. */
export function startGroup<Child extends ChildProcess>(
  start: (mark: Mark) => Child,
): {
  child: Child;
  mark: Mark;
  letGo: () => void;
} {
  const mark = { REDLINE_STARTED_AS: randomUUID() };
  if (process.platform === 'win32') return { child: start(mark), mark, letGo: () => {} };
  const guardian = (pipe ??= startGuardian());
  guardian.write(`start ${mark.REDLINE_STARTED_AS}\n`);
  let child: Child | undefined;
  try {
    child = start(mark);
  } finally {
    guardian.write(
      child?.pid === undefined ? 'failed\n' : `hold ${child.pid}:${mark.REDLINE_STARTED_AS}\n`,
    );
  }
  const { pid } = child;
  const name = `${pid}:${mark.REDLINE_STARTED_AS}`;
  const letGo = (): void => void (pid !== undefined && guardian.write(`drop ${name}\n`));
  return { child, mark, letGo };
}

/** Starts a child that starts no others, and releases it when it exits. */
export function startChild<Child extends ChildProcess>(start: (mark: Mark) => Child): Child {
  const { child, letGo } = startGroup(start);
  child.once('exit', letGo);
  return child;
}

/** Kills a child that starts no others, and waits for its exit: on a crowded machine it dies later. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function startGuardian(): Writable {
  const shell = spawn('/bin/sh', ['-c', script, 'redline', ancestorsOf(process.pid).join(' ')], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  // Without a shell the children outlive a killed runner; nothing else is lost.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as Writable & { unref?: () => void }).unref?.();
  return shell.stdin;
}
