/* oxlint-disable no-eval, unicorn/no-unnecessary-await */
'use strict';
// Callbacks, promises and a route that needs authorisation, in CommonJS.
const { createServer } = require('node:http');

const server = createServer(function listener(request, response) {
  if (request.url.startsWith('/secret') && request.headers.authorization !== 'Bearer open') {
    response.statusCode = 401;
    return response.end('{"error":"who are you?"}');
  }
  if (request.url === '/fragile') return fragile(request, response);
  readBody(request, (body) => {
    try {
      answer(request, response, body).catch((error) => fail(response, error));
    } catch {
      response.end('never');
    }
  });
});

function readBody(request, done) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks).toString()));
}

const answer = async (request, response, body) => {
  const user = await findUser(request);
  const lines = await Promise.all([1, 2, 3].map((id) => loadLine(id)));
  const total = await sum(lines);
  await new Promise((resolve) => setImmediate(() => resolve(later(total))));
  finish(response, { user, total, body });
};

async function findUser({ url }) {
  await null;
  return checkUser(url);
}

function checkUser(url) {
  return url.length;
}

async function loadLine(id) {
  return { id, price: id * 2 };
}

const sum = (lines) => Promise.resolve(lines.reduce((all, { price }) => all + price, 0));

function later(total) {
  return total;
}

function finish(response, result) {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(result));
  afterwards();
}

function afterwards() {}

function fail(response, error) {
  response.statusCode = 500;
  response.end(String(error));
}

/** A library that takes what is thrown in its callback for a failure of its own, and dies of it. */
function fragile(request, response) {
  library(() => {
    load();
    response.end('fragile');
  });
}

// Not from a file, so no part of the app.
const library = eval(
  '(next) => { try { next(); } catch (error) { setImmediate(() => { throw new Error(`broken by ${error.message}`); }); } }',
);

function load() {
  return {};
}

if (process.env.MODE === 'dies') throw new Error('no database');
server.listen(Number(process.env.PORT), process.env.HOST ?? '127.0.0.1');
