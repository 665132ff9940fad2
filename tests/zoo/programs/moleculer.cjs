// After the README of moleculer-web.
const { ServiceBroker } = require('moleculer');
const ApiService = require('moleculer-web');

const broker = new ServiceBroker({ logger: false });
broker.createService({
  name: 'test',
  actions: {
    hello: () => 'Hello API Gateway!',
    list: () => [{ id: 1 }, { id: 2 }],
    greet: { params: { name: 'string' }, handler: ({ params }) => `Hello ${params.name}` },
  },
});
broker.createService({
  mixins: [ApiService],
  settings: { port: Number(process.env.PORT), ip: '127.0.0.1', cors: { origin: '*' } },
});
broker.start();
