// Every way to get an HTTP server in CommonJS: prints what each is, and what serves it.
const http = require('node:http');
const { createServer, Server } = require('http');
const { inherits } = require('node:util');

/** A connection that the engine serves has a socket of its own class. */
const answer = ({ socket }, response) => response.end(socket.constructor.name);

class Own extends http.Server {
  constructor(...given) {
    super(...given);
    this.isOwn = true;
  }
  listen(...given) {
    this.hasListened = true;
    return super.listen(...given);
  }
}

function ByHand(listener) {
  http.Server.call(this, listener);
}
inherits(ByHand, http.Server);

const servers = {
  createServer: createServer(answer),
  'createServer with options': http.createServer({ keepAlive: true }, answer),
  'new Server': new Server(answer),
  'Server without new': http.Server({}, answer),
  'a class that extends it': new Own({}, answer),
  'a class that inherits by hand': new ByHand(answer),
  'a class, with options that need Node': new Own({ insecureHTTPParser: true }, answer),
  'new Server, with options that need Node': new Server({ insecureHTTPParser: true }, answer),
};

async function main() {
  const seen = {};
  for (const [name, server] of Object.entries(servers)) {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const response = await fetch(`http://127.0.0.1:${server.address().port}`);
    seen[name] = {
      socket: await response.text(),
      isServer: server instanceof http.Server && server instanceof Server,
      isOwn: server instanceof Own && server.isOwn && server.hasListened,
      constructor: [server.constructor === http.Server, server.constructor.name],
    };
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }
  console.log(JSON.stringify(seen));
}
main();
