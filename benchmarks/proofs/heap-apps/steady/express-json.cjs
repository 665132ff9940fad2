// Express with a parsed query and a list that is built each time.
const express = require('express');

const app = express();
app.use(express.json());
app.get('/', (request, response) => {
  const items = Array.from({ length: 50 }, (_, id) => ({ id, name: `item ${id}` }));
  response.json({ query: request.query, items });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
