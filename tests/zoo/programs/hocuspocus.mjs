import { Server } from '@hocuspocus/server';

new Server({
  port: Number(process.env.PORT),
  address: '127.0.0.1',
  quiet: true,
  stopOnSignals: true,
}).listen();
