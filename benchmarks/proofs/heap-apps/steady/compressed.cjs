// Memory outside of the heap that comes and goes: a compressor and buffers for each response.
const http = require('node:http');
const { promisify } = require('node:util');
const gzip = promisify(require('node:zlib').gzip);

const page = '<p>some text that repeats</p>'.repeat(400);

http
  .createServer(async (request, response) => {
    const copy = Buffer.from(page);
    response.setHeader('content-encoding', 'gzip');
    response.end(await gzip(copy));
  })
  .listen(process.env.PORT, '127.0.0.1');
