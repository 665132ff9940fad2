import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeWithin } from '../../src/flame/package-place.ts';
import { summariseProfile } from '../../src/flame/summarise-profile.ts';
import { packagesText } from '../../src/flame/words.ts';
import { buildCallTree } from '../../src/profile/call-tree.ts';
import { checkCpuProfile } from '../../src/profile/cpu-profile.ts';
import { SourceMaps } from '../../src/profile/source-maps.ts';

const modules = 'file:///srv/node_modules';
const frame = (functionName: string, url: string): object => ({
  functionName,
  url,
  lineNumber: 4,
  columnNumber: 2,
});

/** A handler, the ORM it calls, the driver which that calls as pnpm and npm lay it out, and Node's socket below it. */
const chain: [name: string, url: string][] = [
  ['(root)', ''],
  ['getOrders', 'file:///srv/src/orders.js'],
  ['findAll', `${modules}/.pnpm/sequelize@6.37.7_pg@8.16.3/node_modules/sequelize/lib/model.js`],
  ['query', `${modules}/sequelize/node_modules/pg/lib/client.js`],
  ['writev', 'node:net'],
  ['handle', `${modules}/@nestjs/core/router/router-proxy.js`],
];

function summary(samples: number[]): ReturnType<typeof summariseProfile> {
  const nodes = chain.map(([name, url], index) => ({
    id: index + 1,
    callFrame: frame(name, url),
    ...(index < 4 ? { children: index === 0 ? [2, 6] : [index + 2] } : {}),
  }));
  const timeDeltas = samples.map(() => 1_000);
  const profile = { nodes, samples, timeDeltas, startTime: 0, endTime: samples.length * 1_000 };
  return summariseProfile(
    buildCallTree(checkCpuProfile(profile, 'test'), undefined),
    new SourceMaps(),
    '/srv',
  );
}

describe('the packages of a profile', () => {
  test('each have the samples of their own frames and of what Node does for them', () => {
    const { packages, samples } = summary([2, 3, 3, 4, 5, 5, 5, 5, 6, 6]);
    assert.deepEqual(packages, [
      { name: 'pg', samples: 5 },
      { name: '@nestjs/core', samples: 2 },
      { name: 'sequelize', samples: 2 },
    ]);
    assert.equal(
      packagesText({ packages, samples })?.replaceAll('\u00a0', ' '),
      'pg 50 % · @nestjs/core 20 % · sequelize 20 %',
    );
  });

  test('stay readable where a place has to be cut', () => {
    const long = 'node_modules/sequelize/src/dialects/postgres/query.js:49:9';
    assert.equal(placeWithin(long, 60), 'sequelize/src/dialects/postgres/query.js:49:9');
    assert.equal(placeWithin(long, 28), 'sequelize/…/query.js:49:9');
    assert.equal(
      placeWithin('node_modules/@nestjs/core/router/router-execution-context.js:1:1', 26),
      '@nestjs/core/…ntext.js:1:1',
    );
    assert.equal(placeWithin('src/a/very/long/path/to/orders.js:1:1', 20), '…th/to/orders.js:1:1');
    assert.equal(placeWithin('src/orders.js:1:1', 20), 'src/orders.js:1:1');
  });
});
