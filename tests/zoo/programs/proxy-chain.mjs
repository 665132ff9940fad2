import { Server } from 'proxy-chain';

const server = new Server({
  port: Number(process.env.PORT),
  prepareRequestFunction: ({ username, password }) => ({
    requestAuthentication: username !== 'zoo' || password !== 'secret',
  }),
});
server.listen();
