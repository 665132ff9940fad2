import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseChange, predict, requireStages } from '../../src/stairs/what-if.ts';
import { stairsFixture } from './fixture.ts';

const result = stairsFixture();
const ask = (...texts: string[]): ReturnType<typeof predict> =>
  predict(result, texts.map(parseChange));

describe('--what-if', () => {
  test('takes the cost of a stage out of the request, with its interval', () => {
    const { micros, rps, rpsRatio } = ask('verifyToken=0');
    assert.ok(Math.abs(micros.value - 54.2) < 1e-9);
    assert.ok(micros.low < 54.2 - 0.3 && micros.high > 54.2 + 0.3);
    assert.ok(Math.abs(rps.value - 1e6 / 54.2) < 1e-6);
    assert.ok(Math.abs(rpsRatio.value - 60.2 / 54.2) < 1e-9);
    assert.ok(rpsRatio.low < rpsRatio.value && rpsRatio.value < rpsRatio.high);
  });

  test('knows a cost in µs, a share, and several at once', () => {
    assert.ok(Math.abs(ask('verifyToken=2').micros.value - 56.2) < 1e-9);
    assert.ok(Math.abs(ask('verifyToken=50%').micros.value - 57.2) < 1e-9);
    assert.ok(Math.abs(ask('verifyToken=0', 'selectItems=50%').micros.value - 37.01) < 1e-9);
  });

  test('refuses what it cannot read, and stages that are not there, with what to do', () => {
    assert.throws(() => parseChange('verifyToken'), /"verifyToken" is not STAGE=MICROS/);
    assert.throws(() => parseChange('a=-1'), { code: 'ERR_REDLINE_OPTION' });
    assert.throws(() => ask('nothing=0'), /Unknown stage "nothing"; the stages are parse HTTP/);
    const named = [parseChange('nothing=0')];
    assert.throws(() => requireStages(named, ['a', 'b']), /"nothing"; the stages are a, b/);
    requireStages(named, ['nothing']);
    assert.throws(() => ask('rank=0'), /measured together with "selectItems"; raise --max-stages/);
  });
});
