const { serve, json, send, text, createError } = require('micro');
const { createServer } = require('node:http');

createServer(
  serve(async (request, response) => {
    if (request.url === '/json') return json(request);
    if (request.url === '/text') return (await text(request)).toUpperCase();
    if (request.url === '/fail') throw createError(429, 'rate limit');
    if (request.url === '/none') return null;
    if (request.url === '/created') return send(response, 201, { created: true });
    return 'Welcome to Micro';
  }),
).listen(process.env.PORT);
