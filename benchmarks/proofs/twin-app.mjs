// A small server and, with SLOWER=0.05, its twin that costs 5 % more CPU per request: 5 % of what the request costs where
// and when it is measured. What it costs depends on that: a load on another core makes it half as dear again, and
// code that is still being compiled several times. So the twin never stops reading its own clock.
import { createServer } from 'node:http';
import { spin } from './spin.mjs';

const slower = Number(process.env.SLOWER ?? 0);
/** Half a slice or less, so that some windows lie wholly within one. */
const requestsPerWindow = 512;
/** So many windows are remembered; what disturbs one only adds to it, so the lowest quarter of them counts. */
const windowsKept = 48;
/**
 * Turns that every server takes, slower or not, some 2 µs of them. The first loop of a request costs it less than its length
 * (`npm run bench -- loop-cost`); a longer one costs what it is longer.
 */
const turnsOfAll = 1_500;
/** Loops in a row that a window ends with, by the clock: what a turn of the loop takes at the moment. */
const rehearsals = 16;

const items = Array.from({ length: 40 }, (_, id) => ({ id, name: `item ${id}`, price: id * 1.5 }));
const [costs, turnCosts, ownCosts] = [recent(), recent(), recent()];
let requests = 0;
let cpuBefore = 0;
/** With TURNS, a fixed number of them in place of a share: under a simulator the clock says nothing. */
let turns = Number(process.env.TURNS ?? 0);

createServer((request, response) => {
  const body = JSON.stringify({ path: request.url, items });
  spin(turnsOfAll + turns, body.length);
  if (++requests === requestsPerWindow && slower > 0) adjust();
  response.setHeader('content-type', 'application/json');
  response.end(body);
}).listen(Number(process.env.PORT), process.env.HOST);

/** Sets the loop to slower / (1 + slower) of a request's cost, the cost of this measurement included. */
function adjust() {
  const begun = process.hrtime.bigint();
  const cpu = cpuMicros();
  if (cpuBefore > 0) keep(costs, (cpu - cpuBefore) / requests);
  cpuBefore = cpu;
  requests = 0;
  const rehearsed = Math.max(turns, 100) * rehearsals;
  const before = process.hrtime.bigint();
  spin(rehearsed, 1);
  keep(turnCosts, Number(process.hrtime.bigint() - before) / 1_000 / rehearsed);
  if (costs.length === 0) return;
  const wanted = (lowQuarter(costs) * slower) / (1 + slower);
  const own = ownCosts.length === 0 ? 0 : lowQuarter(ownCosts) / requestsPerWindow;
  turns = Math.max(0, Math.round((wanted - own) / lowQuarter(turnCosts)));
  keep(ownCosts, Number(process.hrtime.bigint() - begun) / 1_000);
}

function cpuMicros() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function recent() {
  return { values: new Float64Array(windowsKept), length: 0, next: 0 };
}

function keep(list, value) {
  list.values[list.next] = value;
  list.next = (list.next + 1) % windowsKept;
  list.length = Math.min(list.length + 1, windowsKept);
}

/** Numbers in a typed array are sorted without a call for each two of them: what is done here counts as the server's work. */
function lowQuarter({ values, length }) {
  const lowest = values
    .slice(0, length)
    .sort()
    .subarray(0, Math.ceil(length / 4));
  return lowest.reduce((sum, each) => sum + each, 0) / lowest.length;
}
