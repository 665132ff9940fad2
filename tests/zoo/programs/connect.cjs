const connect = require('connect');
const serveStatic = require('serve-static');

const app = connect();
app.use('/files', serveStatic(process.env.SITE));
app.use('/fail', () => {
  throw new Error('failed');
});
app.use('/echo', (request, response) => request.pipe(response));
app.use('/', (request, response, next) =>
  request.url === '/' ? response.end('Hello from Connect!\n') : next(),
);
app.listen(process.env.PORT);
