'use strict';
// oxlint-disable no-unused-vars -- Node 8 parses no catch without a name.
// Loaded by NODE_OPTIONS=--require into every Node program of a profiled server. Each main thread writes its process id and the
// address of its inspector to a file, because its standard error may go anywhere. Workers of a cluster and forks inherit --inspect;
// a program spawned without it opens its inspector when it begins to listen. Syntax of Node 8.
const { appendFileSync } = require('fs');
const { Server } = require('net');

const file = process.env.REDLINE_INSPECTORS;
if (file && isMainThread()) watch(require('inspector'));

function isMainThread() {
  try {
    return require('worker_threads').isMainThread;
  } catch (error) {
    return true;
  }
}

function watch(inspector) {
  // Otherwise a worker of a cluster takes the port after its primary's, which may be in use.
  const cluster = require('cluster');
  if (cluster.settings && cluster.settings.inspectPort === undefined) {
    cluster.settings.inspectPort = 0;
  }
  if (inspector.url() !== undefined) {
    report(inspector);
    return;
  }
  const { listen } = Server.prototype;
  Server.prototype.listen = function watched(...args) {
    if (Server.prototype.listen === watched) Server.prototype.listen = listen;
    try {
      if (inspector.url() === undefined) inspector.open(0, '127.0.0.1');
      report(inspector);
    } catch (error) {
      // It serves without an inspector, too; the report names the process.
    }
    return listen.apply(this, args);
  };
}

function report(inspector) {
  appendFileSync(file, `${process.pid} ${inspector.url()}\n`);
}
