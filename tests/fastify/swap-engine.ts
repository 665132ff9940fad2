// Preloaded into a process: Fastify takes its HTTP/1.1 server from REDLINE_FASTIFY_ENGINE, a module, in place of node:http.
import { registerHooks } from 'node:module';

const call = 'http.createServer(options.http, httpHandler)';
const engine = process.env['REDLINE_FASTIFY_ENGINE'] ?? '@redline/http';

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/fastify/lib/server.js')) return loaded;
    const source = String(loaded.source);
    const parts = source.split(`: ${call}`);
    if (parts.length !== 2) throw new Error(`${url} does not call ${call} once.`);
    const ours = `: require(${JSON.stringify(engine)}).createServer(options.http, httpHandler)`;
    return { ...loaded, source: parts.join(ours) };
  },
});
