// For `node --import @redline/http/register` and `--require`: from here on every `http.createServer` and `new http.Server`
// of this thread is the engine's, in dependencies too.
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from './server/create-server.ts';
import { engine } from './engine.ts';
import { defineHidden } from './node/message-defaults.ts';
import { http, NodeServer } from './node/node-http.ts';
import { isNodes } from './node/node-sources.ts';
import { createServerThrough, replaceExport } from './server/replaced-create-server.ts';
import { ServerClass } from './server/server-class.ts';
import { EngineServer } from './server/server.ts';

// Another copy of this package may have done this before.
if (engine().name === 'native' && http.Server === NodeServer) {
  const { createServer: before } = http;
  replaceExport('createServer', isNodes(before) ? createServer : createServerThrough(before));
  replaceExport('Server', ServerClass);
  for (const { prototype } of [NodeServer, EngineServer]) {
    defineHidden(prototype, 'constructor', ServerClass);
  }
  syncBuiltinESMExports();
}
