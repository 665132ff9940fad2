const { createServer } = require('cors-anywhere');

createServer({ requireHeader: ['origin', 'x-requested-with'], removeHeaders: ['cookie'] }).listen(
  process.env.PORT,
  '127.0.0.1',
);
