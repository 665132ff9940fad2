// 8 KB of JSON out of a cache: `compressed-hits.js PLACE WHAT`. PLACE is engine or hook, WHAT is plain or compressed; with
// nginx as PLACE, WHAT is the program, which sends files that were compressed before (gzip_static).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { serverFactory } from '@redline/http';
import { JsonCache } from '@redline/response-cache';
import { fastifyCache } from '@redline/response-cache/fastify';
import Fastify from 'fastify';

const [place, what] = process.argv.slice(2);
const { HOST = '127.0.0.1', PORT, BODY, FOLDER } = process.env;

if (place === 'nginx') startNginx();
else await startFastify();

async function startFastify() {
  const app = Fastify({ serverFactory });
  await app.register(fastifyCache, { cache: new JsonCache({ ttl: 3_600_000 }), hosts: 'any' });
  const policy = { at: place, identify: 'public', compress: what === 'compressed' };
  app.get('/desks.json', { config: { cache: policy } }, async () => JSON.parse(BODY));
  await app.listen({ port: Number(PORT), host: HOST });
}

function startNginx() {
  const folder = join(FOLDER, PORT);
  mkdirSync(folder);
  writeFileSync(join(folder, 'desks.json'), BODY);
  writeFileSync(join(folder, 'desks.json.gz'), gzipSync(BODY, { level: 9 }));
  const config = `daemon off; worker_processes 1; user root root; pid ${folder}/nginx.pid; error_log stderr error;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; sendfile on; open_file_cache max=100 inactive=1h; gzip_static on; gzip_vary on;
  types { application/json json; }
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen ${HOST}:${PORT}; root ${folder}; }
}`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const args = ['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  process.execve(what, args, process.env);
}
