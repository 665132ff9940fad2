import { threadId, workerData } from 'node:worker_threads';
import { answersOf, createServer } from '../../src/index.ts';

const { port } = workerData as { port: number };

// What the threads answer by themselves differs, so that a client sees whose answer it gets.
const server = createServer((request, response) => {
  const answers = answersOf(server)!;
  const { url } = request;
  if (url === '/keep') {
    const kept = answers.keep('/kept', { body: `kept by ${threadId}`, freshMs: 600_000 });
    response.end(`${kept} ${threadId}`);
  } else if (url === '/drop') {
    answers.drop('/kept');
    response.end(`${threadId}`);
  } else if (url === '/stats') {
    response.end(JSON.stringify(answers.stats()));
  } else if (url === '/die') {
    response.end(`${threadId}`);
    setImmediate(() => {
      throw new Error('as asked');
    });
  } else {
    response.end(`made by ${threadId}`);
  }
});
await new Promise<void>((resolve) => {
  server.listen(port, '127.0.0.1', resolve);
});
