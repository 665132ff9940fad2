import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Servers and loads have process groups of their own, so that Ctrl-C reaches the runner alone. A runner that is killed can end
 * nothing any more: a shell that waits for the end of a pipe does it then, and costs nothing meanwhile.
 */
const script = `held=
while read -r word group; do
  case $word in
    hold) held="$held $group" ;;
    drop)
      rest=
      for each in $held; do [ "$each" = "$group" ] || rest="$rest $each"; done
      held=$rest ;;
  esac
done
for each in $held; do kill -s KILL -- "-$each" 2>/dev/null; done
`;

let pipe: Writable | undefined;

/** Ends the process group of a child with this process, however that ends. Returns what lets go of it. */
export function guardGroup({ pid }: ChildProcess): () => void {
  if (pid === undefined || process.platform === 'win32') return () => {};
  pipe ??= start();
  pipe.write(`hold ${pid}\n`);
  return () => void pipe?.write(`drop ${pid}\n`);
}

/** The same for a child that starts no others: until it has ended. */
export function guardChild(child: ChildProcess): void {
  child.once('exit', guardGroup(child));
}

function start(): Writable {
  const shell = spawn('/bin/sh', ['-c', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  // Without a shell there is nobody to do it, and nothing else is lost.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as Writable & { unref?: () => void }).unref?.();
  return shell.stdin;
}
