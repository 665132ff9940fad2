/**
 * What takes longest of what is compared with Node, and has a shorter one of its kind beside it: `npm test` leaves these
 * to the files named `*.slow.test.ts`.
 */
export const exhaustive: ReadonlySet<string> = new Set([
  'hundreds at once',
  'a program is copied and run',
  'a port is closed and listened on again',
  'execSync passes on what goes to stderr',
  'a channel that outlives the child by what the exit does',
  'the Sync functions in worker threads',
  'a worker that ends the program while another waits',
  'process.exit while other threads start children without end',
  'async hooks around the handler of a signal that a child sends',
  'an abort and a grandchild that holds the output',
  'more than maxBuffer of a grandchild after the exit',
  'output looked at after the exit that a grandchild holds',
  'a Ctrl-C is heard before the close of the child that it ended',
  'warnings of what is to be deprecated',
  'a child that writes when a timeout kills it',
]);

/** Those that `npm test` runs, or the others. */
export function chosen<T>(all: Readonly<Record<string, T>>, which: 'usual' | 'exhaustive') {
  return Object.entries(all).filter(([name]) => exhaustive.has(name) === (which === 'exhaustive'));
}
