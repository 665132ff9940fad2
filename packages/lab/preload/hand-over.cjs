'use strict';
// oxlint-disable no-unused-vars -- Node 6 and 8 parse no catch without a name.
// Loaded into every Node program that a server is started with, by NODE_OPTIONS=--require, until the first server of that
// program listens. A launcher such as `pm2 start` sends its environment to a daemon of the user, which then restarts an app that
// is already running with it. The environment has a mark in it: a program that sends the mark to a process that does not have it
// is ended before the bytes leave. Syntax of Node 6, because old runtimes are measured too.
const { appendFileSync, readFileSync, readdirSync, readlinkSync } = require('fs');
const { Server, Socket } = require('net');

const mark = process.env.REDLINE_STARTED_AS;
const file = process.env.REDLINE_HANDED_OVER;
if (mark && file && isMainThread()) watch();

function isMainThread() {
  try {
    return require('worker_threads').isMainThread;
  } catch (error) {
    return true;
  }
}

function watch() {
  const { connect, _writeGeneric: write } = Socket.prototype;
  const { listen } = Server.prototype;
  /** Sockets of this machine, each with where it leads. */
  const local = new WeakMap();

  Socket.prototype.connect = function (...args) {
    const to = localAddress(args);
    if (to !== undefined) local.set(this, to);
    return connect.apply(this, args);
  };
  Socket.prototype._writeGeneric = function (writev, data, ...rest) {
    const to = local.get(this);
    if (to !== undefined && holds(writev, data) && !isOurs(to)) end(to);
    return write.call(this, writev, data, ...rest);
  };
  // A program that serves by itself is no launcher, and its requests cost what they always do.
  Server.prototype.listen = function watched(...args) {
    Socket.prototype.connect = connect;
    Socket.prototype._writeGeneric = write;
    if (Server.prototype.listen === watched) Server.prototype.listen = listen;
    return listen.apply(this, args);
  };
}

/** `connect` takes an object, a path, a port with or without a host, and, from `net.connect`, all of them in one array. */
function localAddress(args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const given = typeof first === 'object' && first !== null ? first : undefined;
  const path = given ? given.path : typeof first === 'string' && isNaN(first) ? first : undefined;
  if (typeof path === 'string') return { path };
  const port = Number(given ? given.port : first);
  const host =
    (given ? given.host : typeof second === 'string' ? second : undefined) || 'localhost';
  return port > 0 && /^(localhost|127\.|::1$|::ffff:127\.|0\.0\.0\.0$)/.test(host)
    ? { port }
    : undefined;
}

function holds(writev, data) {
  const chunks = writev ? data.map((each) => each.chunk) : [data];
  return chunks.some((each) =>
    (typeof each === 'string' ? each : Buffer.from(each)).includes(mark),
  );
}

/** A daemon that this start has brought up itself ends with it. Where the system does not say, it is taken for the user's. */
function isOurs(to) {
  try {
    const inode = listenerInode(to);
    return inode !== undefined && holdersOf(inode).some((pid) => environmentOf(pid).includes(mark));
  } catch (error) {
    return false;
  }
}

function listenerInode({ path, port }) {
  const [names, isIt] =
    path === undefined
      ? [['tcp', 'tcp6'], (f) => f[3] === '0A' && parseInt(f[1].split(':')[1], 16) === port]
      : [['unix'], (f) => f[7] === path && f[3] === '00010000'];
  for (const name of names) {
    const lines = readFileSync(`/proc/net/${name}`, 'latin1').split('\n').slice(1);
    const found = lines.map((line) => line.trim().split(/\s+/)).find(isIt);
    if (found !== undefined) return path === undefined ? found[9] : found[6];
  }
  return undefined;
}

function holdersOf(inode) {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readdirSync(`/proc/${pid}/fd`).some(
          (each) => readlinkSync(`/proc/${pid}/fd/${each}`) === `socket:[${inode}]`,
        )
      );
    } catch (error) {
      return false;
    }
  });
}

function environmentOf(pid) {
  return readFileSync(`/proc/${pid}/environ`, 'latin1');
}

function end(to) {
  appendFileSync(file, `${to.path === undefined ? `port ${to.port}` : to.path}\n`);
  process.reallyExit(1);
}
