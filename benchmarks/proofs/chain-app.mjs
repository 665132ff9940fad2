// An old-fashioned chain of functions on node:http. Each can be given a busy loop of known length, in microseconds:
// SPIN='{"price":5}'. The functions themselves do next to nothing.
import { createServer } from 'node:http';

const spins = JSON.parse(process.env.SPIN ?? '{}');

let sink = 0;

/** Nothing but arithmetic: no clock is read in it, and nothing is left for the collector. */
function loop(count) {
  let value = sink;
  for (let i = 0; i < count; i++) value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0;
  sink = value;
}

/** How many turns of the loop make a microsecond, when nothing comes between. */
function calibrate() {
  const count = 200_000;
  let least = Infinity;
  for (let batch = 0; batch < 400; batch++) {
    const before = performance.now();
    loop(count);
    // The first are not compiled yet.
    if (batch > 50) least = Math.min(least, performance.now() - before);
  }
  return count / (least * 1_000);
}

const perMicro = calibrate();

function spin(micros) {
  if (micros !== undefined) loop(micros * perMicro);
}

function handle(request, response) {
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
