import { createEventStream, H3, redirect, serve } from 'h3';

const app = new H3();
app.get('/', () => 'Hello h3');
app.get('/json', () => ({ hello: 'world' }));
app.get('/old', () => redirect('/json'));
app.get('/none', () => null);
app.get('/events', (event) => {
  const stream = createEventStream(event);
  void (async () => {
    for (let id = 0; id < 3; id++) await stream.push(`message ${id}`);
    await stream.close();
  })();
  return stream.send();
});
app.post('/items', async (event) => ({ got: await event.req.json() }));
app.get('/fail', () => {
  throw new Error('failed');
});
serve(app, { port: Number(process.env.PORT), hostname: '127.0.0.1', silent: true });
