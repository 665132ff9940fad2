import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { remoteHost } from '../../../src/try/docker/engine.ts';

describe('the machine of an engine of containers', () => {
  const cases: [address: string, host: string | undefined][] = [
    ['', undefined],
    ['unix:///var/run/docker.sock', undefined],
    ['npipe:////./pipe/docker_engine', undefined],
    ['tcp://127.0.0.1:2375', undefined],
    ['tcp://localhost:2375', undefined],
    ['tcp://[::1]:2375', undefined],
    ['tcp://10.0.0.7:2376', '10.0.0.7'],
    ['ssh://me:secret@build.example.com:2222', 'build.example.com'],
  ];
  for (const [address, host] of cases) {
    test(`at "${address}" is ${host ?? 'this one'}`, () => {
      assert.equal(remoteHost(address), host);
    });
  }
});
