// Preloaded into a process: its HTTP/1.1 servers are @redline/http's, whatever way they are made.
'use strict';

const http = require('node:http');

const { Server, createServer } = http;
let ours;

/** The package itself makes its servers with Node's own functions. */
function withNodes(call) {
  Object.assign(http, { Server, createServer });
  try {
    return call();
  } finally {
    Object.assign(http, { Server: SwappedServer, createServer: swappedCreate });
  }
}

function swappedCreate(...args) {
  return withNodes(() => {
    ours ??= require('@redline/http');
    return ours.createServer(...args);
  });
}

function SwappedServer(...args) {
  const isSubclass = new.target !== undefined && new.target !== SwappedServer;
  if (isSubclass) return Reflect.construct(Server, args, new.target);
  if (new.target === undefined && this instanceof Server) return Server.apply(this, args);
  return swappedCreate(...args);
}
SwappedServer.prototype = Server.prototype;
Object.setPrototypeOf(SwappedServer, Server);

Object.assign(http, { Server: SwappedServer, createServer: swappedCreate });
require('node:module').syncBuiltinESMExports();
