import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { Progress, type ProgressEvent } from '../../src/report/progress.ts';
import { until } from '@redline/services/until';

const UP_TWO = '\x1b[2A';
const HIDE = '\x1b[?25l';
const SHOW = '\x1b[?25h';

class Recorder {
  text = '';
  isTTY: boolean;
  columns: number;

  constructor(isTTY: boolean, columns = 80) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }
}

const event: ProgressEvent = {
  round: 7,
  rounds: 12,
  fraction: 0.55,
  variant: 'fastify 5 + schema',
  secondsLeft: 190,
  soFar: { name: 'fastify 5 + schema', ratio: { value: 1.51, low: 1.44, high: 1.59 } },
  noise: { rps: 0.016, cpu: 0.014 },
};

describe('progress', () => {
  it('draws round, bar, share, variant and time, and below them the estimate so far', () => {
    const stream = new Recorder(true);
    const progress = new Progress({ stream, unicode: true });
    progress.update(event);
    assert.deepEqual(stream.text.replace(HIDE, '').split('\n'), [
      'round  7/12 ▕███████████         ▏  55 %  fastify 5 + schema      3 m 10 s left',
      '            so far 1.51 × [1.44, 1.59]   A/A ± 1.6 % rps, ± 1.4 % CPU',
      '',
    ]);
    progress.end();
  });

  it('says elsewhere than on a terminal how far it is, also while nothing new begins', async () => {
    const stream = new Recorder(false);
    const progress = new Progress({ stream, sayAfterMs: 1 });
    progress.update({ ...event, phase: 'warming up' });
    await until('both lines', () => count(stream.text, '3 m 10 s left') >= 2);
    progress.end();
    const [first, second] = stream.text.split('\n');
    assert.match(first!, /^round 7\/12 fastify 5 \+ schema, warming up/);
    assert.equal(second, `${first}: 55 %, 3 m 10 s left`);
  });

  it('redraws in place and gives the cursor back, once, when it ends', () => {
    const stream = new Recorder(true);
    const progress = new Progress({ stream, unicode: true });
    const listeners = process.listenerCount('exit');
    progress.update(event);
    progress.update({ ...event, fraction: 0.6 });
    assert.equal(process.listenerCount('exit'), listeners + 1);
    progress.end();
    progress.end();
    assert.equal(process.listenerCount('exit'), listeners);
    assert.equal(count(stream.text, UP_TWO), 2);
    assert.equal(count(stream.text, HIDE), 1);
    assert.equal(count(stream.text, SHOW), 1);
    assert.ok(stream.text.endsWith(`${UP_TWO}\r\x1b[0J${SHOW}`));
  });

  it('never fills a narrow terminal’s line, which would wrap', () => {
    const stream = new Recorder(true, 40);
    const progress = new Progress({ stream, unicode: true });
    progress.update({ ...event, variant: 'a variant with quite a long name' });
    for (const line of stripVTControlCharacters(stream.text).split('\n'))
      assert.ok([...line].length < 40, line);
    progress.end();
  });

  it('prints one line a round where nothing can be redrawn', () => {
    const stream = new Recorder(false);
    const progress = new Progress({ stream, unicode: true });
    progress.note('starting 8 servers');
    progress.update(event);
    progress.update({ ...event, variant: 'express 5' });
    progress.update({
      round: 8,
      rounds: 12,
      fraction: 0.6,
      variant: 'express 5',
      phase: 'warming up',
    });
    progress.end();
    assert.equal(
      stream.text,
      'starting 8 servers\nround 7/12 fastify 5 + schema 1.51 ×\nround 8/12 express 5, warming up; fastify 5 + schema 1.51 ×\n',
    );
  });

  it('keeps a note above the lines it redraws', () => {
    const stream = new Recorder(true);
    const progress = new Progress({ stream, unicode: true });
    progress.update(event);
    progress.note('express 5 was left out: it did not start');
    const [, after = ''] = stream.text.split(UP_TWO);
    assert.match(
      stripVTControlCharacters(after),
      /^\rexpress 5 was left out: it did not start\nround {2}7\/12/,
    );
    progress.end();
  });

  it('draws with ASCII where Unicode is off', () => {
    const stream = new Recorder(true);
    const progress = new Progress({ stream, unicode: false });
    progress.update(event);
    // oxlint-disable-next-line no-control-regex
    assert.match(stream.text, /^[\x00-\x7f]*$/);
    assert.match(stream.text, /\[###########         \]/);
    progress.end();
  });
});

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
