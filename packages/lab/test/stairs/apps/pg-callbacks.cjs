'use strict';
// Express and pg, as code from before promises uses it: clients come and rows come to a callback.
const express = require('express');
const { Pool } = require('pg');

const size = 4;
const pool = new Pool({ connectionString: process.env.POSTGRES_URL, max: size });
const app = express();

app.get('/pooled', function getPooled(request, response) {
  pool.query('select 1 as id', function onUser(error, { rows: [user] }) {
    pool.query('select $1::int as id', [user.id], function onOrders(_, { rows }) {
      response.json(present(rows));
    });
  });
});

app.get('/client', function getClient(request, response, next) {
  pool.connect(function onClient(error, client, done) {
    if (error) return next(error);
    client.query({ text: 'select 1 as id' }, function onRows(failed, result) {
      done(failed);
      if (failed) return next(failed);
      respond(response, result.rows);
    });
  });
});

function respond(response, rows) {
  response.json(present(rows));
}

function present(rows) {
  return { rows };
}

app.get('/free', (request, response) =>
  response.json({ free: size - pool.totalCount + pool.idleCount - pool.waitingCount }),
);

app.listen(Number(process.env.PORT), '127.0.0.1');
