import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wrkCommand } from '../src/load/wrk-command.ts';
import { invocation, maskSecrets, withoutSecrets } from '../src/secrets.ts';

// Put together here, for nobody to take them for real ones.
const jsonWebToken = ['eyJhbGciOiJI', 'eyJzdWIiOiI3', 'c2lnbmF0dXJl'].join('.');

describe('what looks like a secret', () => {
  for (const [text, masked] of [
    ['authorization: Bearer abc.def-ghi', 'authorization: ***'],
    ['-H=x', '-H=x'],
    ['Cookie: sid=1; theme=dark', 'Cookie: ***'],
    ['X-Api-Key: 12', 'X-Api-Key: ***'],
    ['GET /feed?page=2&access_token=s3cret&size=4', 'GET /feed?page=2&access_token=***&size=4'],
    ['/reset?token=abc', '/reset?token=***'],
    ['DB_PASSWORD=hunter2 node server.js', 'DB_PASSWORD=*** node server.js'],
    ['postgres://app:hunter2@127.0.0.1:5432/app', 'postgres://app:***@127.0.0.1:5432/app'],
    ['mysql://app:p@hunter2@127.0.0.1/app', 'mysql://app:***@127.0.0.1/app'],
    [`/verify/${jsonWebToken}`, '/verify/***'],
    ['sent Bearer 0123456789abcdef along', 'sent Bearer *** along'],
  ] as const) {
    test(`${text.slice(0, 24)} becomes ${masked.slice(0, 24)}`, () =>
      assert.equal(maskSecrets(text), masked));
  }

  test('is told from what only sounds like one', () => {
    for (const text of [
      '/feed?page=2&sort=name&author=7',
      'verifyToken after await :12',
      'http://127.0.0.1:3000/tokens',
      'http://127.0.0.1:3000/of/me@example.com',
      'Basic types are fast',
      'src/auth.js:12',
    ]) {
      assert.equal(maskSecrets(text), text);
    }
  });

  test('is masked wherever a result holds it', () => {
    assert.deepEqual(withoutSecrets({ a: [{ path: '/x?token=1', n: 2 }], b: undefined }), {
      a: [{ path: '/x?token=***', n: 2 }],
      b: undefined,
    });
  });

  test('does not stand in a command line with a database', (context) => {
    const before = process.argv;
    context.after(() => (process.argv = before));
    for (const [words, line] of [
      [
        ['--database', 'postgres://me:x@db:5432/shop?password=x'],
        '--database postgres://db:5432/shop',
      ],
      [['--database=mysql://me:hunter/2@db/shop'], '--database=***'],
      [['--database', 'me:hunter2@db/shop'], '--database ***'],
    ] as const) {
      process.argv = ['node', 'redline', 'stairs', ...words];
      assert.equal(invocation(), `redline stairs ${line}`);
    }
  });

  test('does not stand on the command line of the load', () => {
    const request = {
      method: 'GET',
      path: '/feed?token=s3cret',
      headers: { authorization: 'Bearer open-sesame' },
      body: '',
      compare: 'body' as const,
      timed: true,
    };
    const of = (changed: object): string =>
      wrkCommand(
        {
          host: '127.0.0.1',
          port: 1,
          requests: [{ ...request, ...changed }],
          connections: 1,
          pipeline: 1,
        },
        1,
      ).args.join(' ');
    assert.doesNotMatch(of({}), /s3cret|sesame/);
    assert.doesNotMatch(of({ path: '/' }), /sesame/);
    assert.match(of({ path: '/plain', headers: {} }), /127\.0\.0\.1:1\/plain$/);
  });
});
