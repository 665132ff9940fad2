import { App } from '@tinyhttp/app';

const app = new App();
app.get('/', (request, response) => response.send('<h1>Hello World</h1>'));
app.get('/page/:page', (request, response) =>
  response.status(200).json({ page: request.params.page, url: request.url }),
);
app.get('/old', (request, response) => response.redirect('/'));
app.get('/file', (request, response) => response.sendFile(`${process.env.SITE}/large.txt`));
app.get('/cookie', (request, response) => response.cookie('a', 'b').send('set'));
app.get('/fail', () => {
  throw new Error('failed');
});
app.listen(Number(process.env.PORT));
