import busboy from 'busboy';
import formidable from 'formidable';
import { createServer } from 'node:http';

createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  if (request.url === '/formidable' && request.method === 'POST') {
    formidable({ maxFileSize: 50_000 }).parse(request, (error, fields, files) => {
      if (error) response.statusCode = error.httpCode ?? 400;
      response.end(
        JSON.stringify(
          error
            ? { error: error.message }
            : {
                fields,
                sizes: Object.values(files)
                  .flat()
                  .map(({ size }) => size),
              },
        ),
      );
    });
    return;
  }
  if (request.url === '/busboy' && request.method === 'POST') {
    const seen = [];
    const parser = busboy({ headers: request.headers, limits: { fileSize: 50_000 } });
    parser.on('file', (name, stream, info) => {
      let size = 0;
      stream.on('data', (data) => (size += data.length));
      stream.on('close', () => seen.push({ name, size, ...info, truncated: stream.truncated }));
    });
    parser.on('field', (name, value) => seen.push({ name, value }));
    parser.on('close', () => response.end(JSON.stringify(seen)));
    request.pipe(parser);
    return;
  }
  response.end('{"forms":true}');
}).listen(process.env.PORT);
