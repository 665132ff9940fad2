// A client has ended its side, so nothing is read from it; the handler responds with more than the kernel takes at once, in a
// phase of the loop behind which it would be over.
import { createServer } from '../../src/index.ts';

const [, , path, length] = process.argv;
const server = createServer((_, response) => {
  setTimeout(() => {
    server.close();
    setImmediate(() => response.end('x'.repeat(Number(length))));
  }, 100);
});
Object.assign(server, { httpAllowHalfOpen: true });
server.listen(path, () => process.stdout.write('0\n'));
