import express from 'express';
import ui from 'swagger-ui-express';

const app = express();
const document = {
  openapi: '3.0.0',
  info: { title: 'Zoo', version: '1' },
  paths: { '/animals': { get: { responses: { 200: { description: 'all' } } } } },
};
app.use('/docs', ui.serve, ui.setup(document));
app.get('/animals', (request, response) => response.json(['aardvark']));
app.listen(process.env.PORT);
