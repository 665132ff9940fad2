import { createChannel, createSession } from 'better-sse';
import express from 'express';

const app = express();
const channel = createChannel();
app.get('/', (request, response) => response.send('events'));
app.get('/sse', async (request, response) => {
  const session = await createSession(request, response);
  session.push('Hello world!', 'ping', '1').push({ a: 1 }, 'pong', '2');
  channel.register(session);
  channel.broadcast('to all', 'news', { eventId: '3' });
});
app.get('/iterate', async (request, response) => {
  const session = await createSession(request, response, { retry: 500 });
  await session.iterate(['a', 'b', 'c']);
});
app.listen(process.env.PORT);
