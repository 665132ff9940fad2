import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

const app = express();
app.use(
  '/api',
  createProxyMiddleware({ target: process.env.TARGET, changeOrigin: true, logger: undefined }),
);
app.use('/dead', createProxyMiddleware({ target: 'http://127.0.0.1:1' }));
app.get('/', (request, response) => response.send('a gateway'));
app.listen(process.env.PORT);
