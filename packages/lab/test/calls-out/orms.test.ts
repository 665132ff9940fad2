import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startPostgres } from '@redline/services';
import { WatchedApp } from './watched-app.ts';

const { server, missing } = await startPostgres();
let app: WatchedApp;
after(() => server?.stop());

describe('ORMs are seen at their driver', { skip: missing ?? false }, () => {
  before(async () => {
    app = await WatchedApp.start('orms.mjs', { POSTGRES_URL: server!.url });
  });
  after(() => app[Symbol.asyncDispose]());

  for (const [name, statement] of [
    ['Drizzle', /^select "id", "name" from "people" where "people"."id" = \$1$/],
    ['Knex', /^select \* from "people" where "id" = \$1 and "name" = \$2 limit \$3$/],
    ['Typeorm', /^SELECT .* WHERE \(\("people"."id" = \$1\)\) LIMIT \$2$/],
    ['Prisma', /^SELECT "name" FROM "people" WHERE "id" = \$1$/],
    ['Sequelize', /^SELECT .* WHERE "people"."name" = \$1$/],
  ] as const) {
    test(name, async () => {
      const { summary, requests } = await app.route(`/${name.toLowerCase()}`);
      const [caller, ...others] = summary!.callers;
      assert.deepEqual(others, []);
      assert.deepEqual(
        { name: caller!.name, count: caller!.count, groups: caller!.groups.length },
        { name: `via${name}`, count: 1, groups: 1 },
      );
      assert.match(caller!.groups[0]!.text, statement);
      assert.doesNotMatch(JSON.stringify(requests), /secret/);
    });
  }
});
