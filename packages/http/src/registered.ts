// The engine's versions of node:http's exports, for the code that replaces Node's.
import { createServer as enginesCreateServer } from './server/create-server.ts';
import { engine } from './engine.ts';
import { defineHidden } from './node/message-defaults.ts';
import { NodeServer, type Http } from './node/node-http.ts';
import { isNodes } from './node/node-sources.ts';
import { createServerThrough } from './server/replaced-create-server.ts';
import { ServerClass } from './server/server-class.ts';
import { EngineServer } from './server/server.ts';

/**
 * Returns `createServer` and `Server` for node:http; the previous ones if the engine is not available.
 *
 * @param before The current `http.createServer`: Node's own, or a wrapper of it.
 */
export function enginesExports(
  before: Http['createServer'],
): Pick<Http, 'createServer' | 'Server'> {
  if (engine().name !== 'native') return { createServer: before, Server: NodeServer };
  for (const { prototype } of [NodeServer, EngineServer]) {
    defineHidden(prototype, 'constructor', ServerClass);
  }
  const createServer = isNodes(before) ? enginesCreateServer : createServerThrough(before);
  return { createServer: createServer as Http['createServer'], Server: ServerClass };
}
