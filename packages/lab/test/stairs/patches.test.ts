import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nestAdapters } from '../../src/stairs/preload/adapters/nest.ts';
import { patchFor } from '../../src/stairs/preload/adapters/patches.ts';
import { StairsState } from '../../src/stairs/preload/state.ts';

test("a guard of @nestjs/passport is called by what makes it: AuthGuard('jwt')", async () => {
  const file = '/app/node_modules/@nestjs/passport/dist/auth.guard.js';
  for (const source of [
    'export const AuthGuard = memoize(createAuthGuard);',
    'exports.AuthGuard = (0, memoize_util_1.memoize)(createAuthGuard);',
  ]) {
    assert.match(
      patchFor(file)!.apply(source),
      /\(__redlineStairs\.adapters\.nest\.passport\(createAuthGuard\)\)/,
    );
  }
  const settings = { phase: 'trace', stages: {}, guards: [], followsAsync: false };
  const state = new StairsState({
    ...settings,
    controlPort: 0,
    listenPort: 0,
    crashFile: '',
  } as never);
  const entered: string[] = [];
  state.onEnter = (_, stage) => entered.push(stage!.name);
  const adapters = nestAdapters(state);
  const AuthGuard = adapters.passport(
    () =>
      class {
        static readonly name = 'a1b2c3d4e5f6a1b2c3d4e';
        canActivate(): boolean {
          return true;
        }
      },
  );
  class JwtAuthGuard extends (AuthGuard('jwt') as new () => object) {}
  const guards = [AuthGuard('jwt'), AuthGuard(['jwt', 'basic']), AuthGuard(), JwtAuthGuard].map(
    (Guard) => new (Guard as new () => object)(),
  );
  const creator = class {
    createConcreteContext(): object[] {
      return guards;
    }
  };
  adapters.guards(creator);
  for (const guard of new creator().createConcreteContext()) {
    (guard as { canActivate(): boolean }).canActivate();
  }
  assert.deepEqual(entered, [
    "AuthGuard('jwt')",
    "AuthGuard('jwt', 'basic')",
    'AuthGuard()',
    'JwtAuthGuard',
  ]);
});
