import { createEventStream, eventHandler } from 'h3';

export default eventHandler((event) => {
  const stream = createEventStream(event);
  void (async () => {
    for (let id = 0; id < 3; id++) await stream.push(`message ${id}`);
  })();
  return stream.send();
});
