// `@redline/http/register` for bundlers and for Node versions without `require` of modules: the engine is loaded
// immediately.
import { syncBuiltinESMExports } from 'node:module';
import { engine } from './engine.ts';
import { http, isServerNodes } from './node/node-http.ts';
import { enginesExports } from './registered.ts';
import { replaceExport } from './server/replaced-create-server.ts';

// Another copy of this package may have replaced them already.
if (engine().name === 'native' && isServerNodes) {
  const { createServer, Server } = enginesExports(http.createServer);
  replaceExport('createServer', createServer);
  replaceExport('Server', Server);
  syncBuiltinESMExports();
}
