const restana = require('restana');

const service = restana();
service.get('/', (request, response) => response.send({ hello: 'world' }));
service.get('/hi/:name', (request, response) => response.send(`hi ${request.params.name}`));
service.get('/buffer', (request, response) => response.send(Buffer.from('a buffer')));
service.get('/fail', () => {
  throw new Error('failed');
});
service.post('/echo', (request, response) => request.pipe(response));
service.start(Number(process.env.PORT));
