import assert from 'node:assert/strict';
import { ask, sendParts } from '../ask.ts';
import { type Check, isType } from '../check.ts';

const profiles = ['pipelined'];

export const pipelined: Check[] = [
  {
    profiles,
    name: 'GET /pipeline is ok',
    run: async (port) => {
      const { status, headers, body } = await ask(port, { path: '/pipeline' });
      assert.equal(status, 200);
      assert.equal(body.toString(), 'ok');
      assert.ok(
        isType(headers['content-type'], 'text/plain'),
        `its type is ${headers['content-type']}`,
      );
    },
  },
  {
    profiles,
    name: 'sixteen requests at once have sixteen responses',
    run: async (port) => {
      const one = (last: string): string =>
        `GET /pipeline HTTP/1.1\r\nHost: localhost\r\n${last}\r\n`;
      const all = `${one('').repeat(15)}${one('Connection: close\r\n')}`;
      const response = await sendParts(port, [all], 0);
      assert.equal(response.split('\r\n\r\nok').length - 1, 16, response);
    },
  },
];
