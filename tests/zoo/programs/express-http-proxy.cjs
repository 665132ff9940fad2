const express = require('express');
const proxy = require('express-http-proxy');

const app = express();
app.use('/api', proxy(process.env.TARGET));
app.use(
  '/upper',
  proxy(process.env.TARGET, { userResDecorator: (_, data) => data.toString().toUpperCase() }),
);
app.get('/', (request, response) => response.send('a gateway'));
app.listen(process.env.PORT);
