// Express: visits by id, in a plain object.
const express = require('express');

const app = express();
app.locals.visits = {};
let ids = 0;

app.use((request, response, next) => {
  const id = `v${++ids}`;
  request.app.locals.visits[id] = { path: request.path, at: new Date() }; // leaks here
  next();
});
app.get('/', (request, response) => {
  response.json({ ok: true });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
