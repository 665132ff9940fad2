import polka from 'polka';
import sirv from 'sirv';

polka()
  .use('/files', sirv(process.env.SITE, { etag: true }))
  .get('/', (request, response) => response.end('Hello Polka'))
  .get('/users/:id', (request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ id: request.params.id }));
  })
  .post('/echo', (request, response) => request.pipe(response))
  .listen(process.env.PORT);
