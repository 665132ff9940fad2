// An old-fashioned chain of functions on node:http. Each can be given a busy loop of known length, in microseconds:
// SPIN='{"price":5}'. The functions themselves do next to nothing.
import { createServer } from 'node:http';
import { BusyLoop } from './busy-loop.mjs';

const spins = Object.fromEntries(
  Object.entries(JSON.parse(process.env.SPIN ?? '{}')).map(([name, micros]) => [
    name,
    new BusyLoop(micros),
  ]),
);

function spin(loop) {
  if (loop !== undefined) loop.run();
}

/**
 * The first loop of a request costs it less than its length, whatever stage it is in (`npm run bench -- loop-cost`), so this
 * one comes before all others. It belongs to `handle`.
 */
const first = new BusyLoop(3);

function handle(request, response) {
  first.run();
  const query = parse(request.url);
  const user = authorise(query);
  const items = select(user);
  const priced = price(items);
  const ranked = rank(priced);
  const page = render(ranked);
  send(response, page);
}

function parse(url) {
  spin(spins.parse);
  return { path: url };
}

function authorise(query) {
  spin(spins.authorise);
  return { id: 7, query };
}

function select(user) {
  spin(spins.select);
  return { user, items: [1, 2, 3] };
}

function price(selected) {
  spin(spins.price);
  return selected;
}

function rank(priced) {
  spin(spins.rank);
  return priced;
}

function render(ranked) {
  spin(spins.render);
  return `{"items":[${ranked.items.join(',')}]}`;
}

function send(response, page) {
  spin(spins.send);
  response.setHeader('content-type', 'application/json');
  response.end(page);
}

createServer(handle).listen(Number(process.env.PORT), '127.0.0.1');
