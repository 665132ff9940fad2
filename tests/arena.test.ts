// The entries for the public board, checked by its rules: benchmarks/arena.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { entries, entriesNamed } from '../benchmarks/arena/entries.ts';
import { isPinned, metaComplaints, readMeta } from '../benchmarks/arena/folder-rules.ts';
import { checks } from '../benchmarks/arena/profiles.ts';
import { writeSubmission } from '../benchmarks/arena/submission.ts';
import { validate } from '../benchmarks/arena/validate.ts';
import { commonVersion } from '../scripts/release/pack.ts';

const root = join(import.meta.dirname, '..');

describe('an entry for the board is accepted by its rules:', { concurrency: true }, () => {
  for (const entry of entries) {
    test(entry.name, async () => {
      const { checks: count, complaints } = await validate(entry);
      assert.deepEqual(complaints, []);
      assert.ok(count > 0);
    });
  }
});

describe('an entry asks for the packages of this version:', () => {
  for (const { name, folder } of entries) {
    test(name, () => {
      const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const ours = Object.entries(dependencies).filter(([each]) => each.startsWith('@redline/'));
      assert.deepEqual(new Set(ours.map(([, version]) => version)), new Set([commonVersion(root)]));
    });
  }
});

test('what is submitted is a folder of its own', () => {
  const into = mkdtempSync(join(tmpdir(), 'redline-arena-'));
  try {
    const folder = writeSubmission(entriesNamed(['redline'])[0]!, into);
    assert.equal(folder, join(into, 'frameworks', 'redline'));
    for (const file of ['Dockerfile', 'meta.json', 'package.json', 'main.js', 'server.js']) {
      assert.ok(existsSync(join(folder, file)), file);
    }
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
});

describe('the board would refuse', () => {
  const meta = { ...readMeta(entries[0]!.folder) };

  test('a test it does not have, a type, a mode or an axis', () => {
    assert.deepEqual(metaComplaints(meta), []);
    const wrong = { ...meta, tests: ['json'], type: 'fast', completeness: { speed: true } };
    const complaints = metaComplaints(wrong);
    assert.equal(complaints.length, 3, complaints.join('\n'));
  });

  test('an image without a version', () => {
    for (const image of ['node:24-slim', 'a/b:1', 'node@sha256:00'])
      assert.ok(isPinned(image), image);
    for (const image of ['node', 'node:latest', 'debian:stable-slim', 'host:5000/node']) {
      assert.ok(!isPinned(image), image);
    }
  });

  const servers: Record<string, RequestListener> = {
    'a server that has one response': (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.end('55');
    },
    'a server that does not wait': (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.end(request.url!.slice('/delay/'.length));
    },
  };
  for (const [name, listener] of Object.entries(servers)) {
    test(name, async () => {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      try {
        for (const profile of ['baseline', 'async']) {
          const its = checks.filter(({ profiles }) => profiles.includes(profile));
          const results = await Promise.allSettled(its.map((check) => check.run(port)));
          assert.ok(
            results.some(({ status }) => status === 'rejected'),
            profile,
          );
        }
      } finally {
        server.close();
        server.closeAllConnections();
      }
    });
  }
});
