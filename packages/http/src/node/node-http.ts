import * as nodeModule from 'node:module';

export type Http = typeof import('node:http');

/**
 * `node:http`, loaded with `require`: `import` would evaluate all its getters, and one of them loads a second HTTP client,
 * 2.5 MiB in a process that does not use it. (Any file's `require` will do. webpack removes a `createRequire` that is
 * imported by its name.)
 */
export const http: Http = nodeModule.createRequire(process.execPath)('node:http') as Http;

/** Key of Node's own class on an `http.Server` of this package; every copy of the package knows it. */
export const kNodeServer: unique symbol = Symbol.for('redline.http.NodeServer') as never;

/**
 * The current `http.Server`. `register` makes it an accessor that loads the engine: reading it here would recurse into the
 * load.
 */
const server = Object.getOwnPropertyDescriptor(http, 'Server')!;
const marked = (server.get ?? server.value) as { [kNodeServer]?: Http['Server'] };

/** Node's own class, even if `http.Server` is the engine's by now. */
export const NodeServer: Http['Server'] = marked[kNodeServer] ?? http.Server;

/** True while `http.Server` is Node's own: no copy of this package has replaced it or is about to. */
export const isServerNodes: boolean = marked[kNodeServer] === undefined;
