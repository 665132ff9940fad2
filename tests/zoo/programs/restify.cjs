const restify = require('restify');

const server = restify.createServer({ name: 'zoo' });
server.use(restify.plugins.queryParser());
server.use(restify.plugins.bodyParser());
server.use(restify.plugins.gzipResponse());
server.get('/', (request, response, next) => {
  response.send({ hello: 'world' });
  next();
});
server.get('/hello/:name', (request, response, next) => {
  response.send(`hello ${request.params.name}`);
  next();
});
server.get('/old', (request, response, next) => response.redirect('/', next));
server.post('/items', (request, response, next) => {
  response.send(201, request.body);
  next();
});
server.listen(process.env.PORT);
