import { FileStore } from '@tus/file-store';
import { Server } from '@tus/server';

const server = new Server({
  path: '/files',
  datastore: new FileStore({ directory: './files' }),
  namingFunction: () => 'a-file',
});
server.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
