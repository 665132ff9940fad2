// A server of one framework (its first argument): on node:http, or with --import @redline/http/register on the engine.
import { once } from 'node:events';
import process from 'node:process';
import { servers } from './servers.js';

const server = await servers[process.argv[2]](Number(process.env.PORT), process.env.HOST);
if (process.execArgv.some((option) => option.includes('@redline/http/register'))) {
  const { engine } = await import('@redline/http');
  if (!server.listening) await once(server, 'listening');
  const served = engine(server);
  // It would be measured under the engine's name.
  if (served.name !== 'native') throw new Error(`Node serves it: ${served.reason}`);
}
