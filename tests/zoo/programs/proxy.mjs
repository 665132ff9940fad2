import { createServer } from 'node:http';
import { createProxy } from 'proxy';

createProxy(createServer()).listen(process.env.PORT);
