import { createRequire } from 'node:module';

export type Http = typeof import('node:http');

/**
 * `node:http`, required: `import` would evaluate every getter of it, and behind one of them is a second HTTP client. That is
 * 2.5 MiB in a process that did not ask for it. (Whose `require` it is makes no difference here.)
 */
export const http: Http = createRequire(process.execPath)('node:http') as Http;

/** Where a `http.Server` that this package put in place keeps Node's own. Every copy of the package knows it. */
export const kNodeServer: unique symbol = Symbol.for('redline.http.NodeServer') as never;

/** The present `http.Server`. `register` makes it an accessor that loads the engine: reading it here would load it in the making. */
const server = Object.getOwnPropertyDescriptor(http, 'Server')!;
const marked = (server.get ?? server.value) as { [kNodeServer]?: Http['Server'] };

/** Node's own class, also where `http.Server` is the engine's by now. */
export const NodeServer: Http['Server'] = marked[kNodeServer] ?? http.Server;

/** True while `http.Server` is Node's own: no copy of this package has put one in its place, or is about to. */
export const isServerNodes: boolean = marked[kNodeServer] === undefined;
