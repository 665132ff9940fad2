// `http.createServer` wrapped before or after `register`: prints what the wrapper and a client see.
const http = require('node:http');

const [register, order, how] = process.argv.slice(2);
const seen = [];

const wraps = {
  assign: (wrapper) => (http.createServer = wrapper),
  define: (wrapper) => {
    Object.defineProperty(http, 'createServer', { value: wrapper, writable: false });
  },
};

function wrap() {
  const { createServer } = http;
  wraps[how in wraps ? how : 'assign'](function wrapper(...given) {
    seen.push(`called with ${given.map((one) => typeof one)}, ${this === http}`);
    const server = createServer.apply(this, given);
    server.known = true;
    server.on('connection', () => seen.push('connection'));
    server.prependListener('request', (_, response) => response.setHeader('x-agent', '1'));
    const own = /^own (\w+)$/.exec(how)?.[1];
    if (own !== undefined) {
      const method = server[own];
      server[own] = (...rest) => {
        seen.push(own);
        return method.apply(server, rest);
      };
    }
    if (how === 'proxy') return new Proxy(server, {});
    return server;
  });
}

class Response extends http.ServerResponse {
  get isOwn() {
    return true;
  }
}

async function main() {
  if (order === 'before') wrap();
  if (register) require(register);
  if (order === 'after') wrap();
  const servers = [
    http.createServer((_, response) => response.end('body')),
    http.createServer(
      { ServerResponse: Response, keepAliveTimeout: 1234, maxHeaderSize: 4321 },
      (_, response) => response.end(`own ${response.isOwn}`),
    ),
    http.createServer({ insecureHTTPParser: true }, (_, response) => response.end('lenient')),
    require('express')()
      .get('/', (_, response) => response.send('express'))
      .listen(0, '127.0.0.1'),
  ];
  const serving = [];
  for (const server of servers) {
    if (!server.listening) server.listen(0, '127.0.0.1');
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address();
    const { keepAliveTimeout, maxHeaderSize, known } = server;
    const response = await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } });
    seen.push([
      await response.text(),
      response.headers.get('x-agent'),
      known,
      keepAliveTimeout,
      maxHeaderSize,
    ]);
    seen.push([
      server instanceof http.Server,
      Object.keys(server).includes('known'),
      server.constructor.name,
    ]);
    if (register) serving.push(require('@redline/http').engine(server));
    await new Promise((resolve) => server.close(resolve));
  }
  console.log(JSON.stringify({ seen, serving }));
}
main();
