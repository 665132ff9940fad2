// The files of a folder: by Express' static files, or by `send` without a framework; on node:http, or on the engine (ENGINE=redline).
import { createRequire } from 'node:module';
import process from 'node:process';
import express from 'express';

// The one that Express uses.
const send = createRequire(import.meta.resolve('express'))('send');
const { FILES_FOLDER, HOST, PORT, ENGINE } = process.env;
const { createServer } =
  ENGINE === 'redline' ? await import('@redline/http') : await import('node:http');

const handlers = {
  express: () => express().use(express.static(FILES_FOLDER)),
  send: () => (request, response) => {
    send(request, request.url, { root: FILES_FOLDER }).pipe(response);
  },
};
createServer(handlers[process.argv[2]]()).listen(Number(PORT), HOST);
