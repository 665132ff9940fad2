import assert from 'node:assert/strict';
import { ask, bodyOf, type Question, sendParts } from '../ask.ts';
import { anyNumber, type Check, isType } from '../check.ts';
import { splitEverywhere } from './split-everywhere.ts';

// The profiles at a fixed rate request the same path.
const profiles = ['baseline', 'limited-conn', 'latency-10k', 'latency-1m'];
const path = '/baseline11?a=13&b=42';
const pauseMs = 30;

async function expectSum(port: number, question: Question, sum: number): Promise<void> {
  const { status, headers, body } = await ask(port, question);
  assert.equal(status, 200);
  assert.equal(body.toString(), String(sum));
  assert.ok(
    isType(headers['content-type'], 'text/plain'),
    `its type is ${headers['content-type']}`,
  );
}

function post(body: string, headers: Record<string, string>): Question {
  return { method: 'POST', path, body, headers };
}

async function expectFromParts(port: number, parts: string[], sum: number): Promise<void> {
  const response = await sendParts(port, parts, pauseMs);
  assert.equal(bodyOf(response), String(sum), `it sent ${JSON.stringify(response)}`);
}

const typed = { 'Content-Type': 'text/plain' };
const postHead =
  'Host: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n';

export const baseline: Check[] = [
  {
    profiles,
    name: 'GET adds two parameters',
    run: async (port) => {
      await expectSum(port, { path }, 55);
      const [a, b] = [anyNumber(100, 999), anyNumber(100, 999)];
      await expectSum(port, { path: `/baseline11?a=${a}&b=${b}` }, a + b);
    },
  },
  {
    profiles,
    name: 'POST adds its body, with and without a content type',
    run: async (port) => {
      await expectSum(port, post('20', { ...typed, 'Content-Length': '2' }), 75);
      // The load generator sends no content type.
      await expectSum(port, post('20', { 'Content-Length': '2' }), 75);
      for (const body of [anyNumber(100, 499), anyNumber(500, 999)]) {
        await expectSum(port, post(String(body), { ...typed, 'Content-Length': '3' }), 55 + body);
      }
    },
  },
  {
    profiles,
    name: 'POST adds a body in chunks, with and without a content type',
    run: async (port) => {
      const chunked = { 'Transfer-Encoding': 'chunked' };
      await expectSum(port, post('20', { ...typed, ...chunked }), 75);
      await expectSum(port, post('20', chunked), 75);
    },
  },
  {
    profiles,
    name: 'requests that arrive in pieces',
    run: async (port) => {
      const close = 'Connection: close\r\n\r\n';
      const line = `GET ${path} HTTP/1.1\r\n`;
      await expectFromParts(
        port,
        [line.slice(0, 9), line.slice(9), `Host: localhost\r\n${close}`],
        55,
      );
      await expectFromParts(
        port,
        [line, 'Host: localhost\r\n', 'User-Agent: parts\r\n', close],
        55,
      );
      const head = `POST ${path} HTTP/1.1\r\n${postHead}`;
      await expectFromParts(port, [head, '20'], 75);
      await expectFromParts(port, [head, '2', '0'], 75);
      await expectFromParts(
        port,
        [head.replace(/^[\w-]+:/gm, (name) => name.toLowerCase()), '20'],
        75,
      );
    },
  },
  { profiles, name: 'requests that are split at any byte', run: splitEverywhere },
];
