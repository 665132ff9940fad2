// A small server and, with SLOWER=0.05, its twin that costs 5 % more CPU per request. The twin measures itself while it
// is warmed up, and from then on is busy for its share of what it found: 5 % on any machine.
import { createServer } from 'node:http';
import { BusyLoop } from './busy-loop.mjs';

const slower = Number(process.env.SLOWER ?? 0);
const calibrateFrom = 6_000;
const calibrateTo = 14_000;

const items = Array.from({ length: 40 }, (_, id) => ({ id, name: `item ${id}`, price: id * 1.5 }));
let requests = 0;
let cpuBefore;
let loop;

function threadMicros() {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return user + system;
}

function calibrate() {
  if (requests === calibrateFrom) cpuBefore = threadMicros();
  if (requests === calibrateTo && slower > 0) {
    loop = new BusyLoop((slower * (threadMicros() - cpuBefore)) / (calibrateTo - calibrateFrom));
  }
}

createServer((request, response) => {
  requests++;
  if (requests <= calibrateTo) calibrate();
  const body = JSON.stringify({ path: request.url, items });
  if (loop !== undefined) loop.run();
  response.setHeader('content-type', 'application/json');
  response.end(body);
}).listen(Number(process.env.PORT), process.env.HOST);
