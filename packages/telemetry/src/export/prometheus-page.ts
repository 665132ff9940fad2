import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { diag } from '@opentelemetry/api';
import { untracedServers } from '../servers/node-servers.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Serves a text to Prometheus at /metrics, by Node's own server: the engine's would count its own requests. */
export function servePrometheus(
  text: () => Promise<string>,
  { host, port }: { readonly host: string; readonly port: number },
): Server {
  const http = process.getBuiltinModule('node:http');
  const kNodeServer = Symbol.for('redline.http.NodeServer');
  const NodeServer = (http.Server as never as Record<symbol, typeof Server>)[kNodeServer];
  const server = new (NodeServer ?? http.Server)((request, response) => {
    void respond(request, response, text);
  });
  untracedServers.add(server);
  server.on('error', (error) => {
    diag.error(`@redline/telemetry: ${host}:${port} cannot serve Prometheus: ${error.message}`);
  });
  return server.listen(port, host).unref();
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  text: () => Promise<string>,
): Promise<void> {
  if (request.url?.split('?', 1)[0] !== '/metrics') {
    response.writeHead(404).end();
    return;
  }
  try {
    const page = await text();
    response.writeHead(200, { 'Content-Type': CONTENT_TYPE }).end(page);
  } catch (error) {
    diag.error('@redline/telemetry: the metrics could not be read', error);
    response.writeHead(500).end();
  }
}
