import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { encodeJobRecord } from '../../src/journal/job-record.ts';
import { nodeFs, type JournalFs } from '../../src/journal/journal-fs.ts';
import { Journal } from '../../src/journal/journal.ts';
import { recoverJournal, type Damage } from '../../src/journal/recover.ts';
import { temporaryFolder } from '../harness.ts';

const id = 'abc-123';
const jobs = ['one', 'zwei – mit Umlaut ü', 'three', 'four'];

/** Each job in a write of its own. */
async function writeJournal(
  folder: string,
  level?: 'process' | 'disk',
  fs: JournalFs = nodeFs,
): Promise<Journal> {
  const journal = new Journal(id, folder, {
    fs,
    clock: systemClock,
    segmentBytes: 1 << 20,
    replayWindowMs: 0,
    trouble: assert.ifError,
    recovered: () => {},
    removed: () => {},
    committed: () => {},
  });
  for (const [at, text] of jobs.entries()) {
    const record = {
      id: `${id}-${at}`,
      sink: 'mail',
      job: 'send',
      key: undefined,
      json: JSON.stringify(text),
      deferredAtMs: 1,
      attempt: 1,
      context: undefined,
      options: undefined,
    };
    journal.append('mail', encodeJobRecord(record));
    if (level !== undefined) journal.wait(level, { committed: assert.ifError });
    await journal.settled();
  }
  if (level === undefined) journal.release();
  return journal;
}

async function read(folder: string): Promise<{ found: Map<number, string>; damages: Damage[] }> {
  const found = new Map<number, string>();
  const names = readdirSync(folder);
  const journal = { fs: nodeFs, id, folder, names };
  const { damages } = await recoverJournal(journal, 0, (number, { json }) => {
    found.set(number, JSON.parse(json));
  });
  return { found, damages };
}

describe('a segment with one wrong byte', () => {
  for (const [what, change] of [
    ['one bit flipped', (byte: number) => byte ^ 1],
    ['all bits flipped', (byte: number) => byte ^ 0xff],
    ['zero', (byte: number) => (byte === 0 ? 0x5a : 0)],
  ] as const) {
    test(`is read but for the job it is in, and is reported, wherever the byte is: ${what}`, async (t) => {
      const folder = temporaryFolder(t);
      await writeJournal(folder);
      const file = join(folder, '00000001.seg');
      const whole = readFileSync(file);
      assert.equal((await read(folder)).found.size, jobs.length);
      assert.deepEqual((await read(folder)).damages, []);
      for (let at = 0; at < whole.length; at++) {
        const damaged = Buffer.from(whole);
        damaged[at] = change(damaged[at]!);
        writeFileSync(file, damaged);
        const { found, damages } = await read(folder);
        assert.equal(damages.length, 1, `byte ${at}`);
        assert.equal(found.size, at < 16 ? jobs.length : jobs.length - 1, `byte ${at}`);
        // What was whole may have been acknowledged: it is no torn write, even at the end. Its length may lie.
        if (what !== 'zero' && at >= 16) {
          const isLength = isInLength(whole, at);
          assert.ok(damages[0]!.kind === 'damaged' || isLength, `byte ${at}`);
        }
        for (const [number, text] of found) assert.equal(text, jobs[number - 1], `byte ${at}`);
      }
    });
  }
});

test('a whole frame that is no record stops no other', async (t) => {
  const folder = temporaryFolder(t);
  const journal = await writeJournal(folder, 'process');
  journal.append('mail', '["id","mail","send",null,1,1,null,undefined]\n1');
  await journal.settled();
  journal.release();
  const { found, damages } = await read(folder);
  assert.deepEqual([...found.values()], jobs);
  assert.deepEqual(
    damages.map(({ kind }) => kind),
    ['damaged'],
  );
});

/* Of the last frame. */
function isInLength(whole: Buffer, at: number): boolean {
  let start = 16;
  for (;;) {
    const end = start + 20 + whole.readUInt32BE(start + 8);
    if (end >= whole.length) return at >= start + 8 && at < start + 12;
    start = end;
  }
}

test('a segment cut off anywhere gives every job that is whole, and says what is torn', async (t) => {
  const folder = temporaryFolder(t);
  await writeJournal(folder);
  const file = join(folder, '00000001.seg');
  const whole = readFileSync(file);
  const ends = new Set<number>([16]);
  let expected = 0;
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    const { found, damages } = await read(folder);
    assert.ok(found.size >= expected && found.size <= expected + 1, `length ${length}`);
    if (found.size > expected) ends.add(length);
    expected = found.size;
    assert.equal(damages.length, ends.has(length) ? 0 : 1, `length ${length}`);
    for (const { kind } of damages) assert.equal(kind, 'torn', `length ${length}`);
    if (length < 40 || ends.has(length)) continue;
    // As a power failure may leave it: the file has its length, and not its bytes.
    writeFileSync(file, Buffer.concat([whole.subarray(0, length), Buffer.alloc(4_096)]));
    const [damage] = (await read(folder)).damages;
    assert.equal(damage?.kind, 'torn', `length ${length} and zeros`);
  }
  assert.equal(expected, jobs.length);
});

describe('room reserved behind the last frame', () => {
  test('is no damage, and a frame cut off before it is a torn one', async (t) => {
    const folder = temporaryFolder(t);
    await writeJournal(folder);
    const file = join(folder, '00000001.seg');
    const whole = readFileSync(file);
    const reserve = Buffer.alloc(10_000);
    writeFileSync(file, Buffer.concat([whole, reserve]));
    const { found, damages } = await read(folder);
    assert.equal(found.size, jobs.length);
    assert.deepEqual(damages, []);
    writeFileSync(file, Buffer.concat([whole.subarray(0, -3), reserve]));
    const torn = await read(folder);
    assert.equal(torn.found.size, jobs.length - 1);
    assert.deepEqual(
      torn.damages.map((damage) => (damage as { kind: string }).kind),
      ['torn'],
    );
  });

  test('is there while it is synced, and gone when the journal is released', async (t) => {
    const folder = temporaryFolder(t);
    const journal = await writeJournal(folder, 'disk');
    const file = join(folder, '00000001.seg');
    assert.ok(readFileSync(file).length > 100_000);
    assert.equal((await read(folder)).found.size, jobs.length);
    assert.deepEqual((await read(folder)).damages, []);
    journal.release();
    assert.equal(readFileSync(file).length, journal.bytes);
    assert.equal((await read(folder)).found.size, jobs.length);
  });

  test('is not reserved for what nobody waits to be synced', async (t) => {
    const folder = temporaryFolder(t);
    const journal = await writeJournal(folder, 'process');
    assert.equal(readFileSync(join(folder, '00000001.seg')).length, journal.bytes);
    journal.release();
  });

  test('is done without where there is no room for it', async (t) => {
    const folder = temporaryFolder(t);
    const fs: JournalFs = {
      ...nodeFs,
      writeSync(fd, bytes, offset, length, position) {
        if (length > 100_000) throw new Error('ENOSPC');
        return nodeFs.writeSync(fd, bytes, offset, length, position);
      },
    };
    const journal = await writeJournal(folder, 'disk', fs);
    journal.release();
    assert.equal((await read(folder)).found.size, jobs.length);
    assert.deepEqual((await read(folder)).damages, []);
  });
});

test('bytes that were never a journal are no jobs', async (t) => {
  const folder = temporaryFolder(t);
  const noise = Buffer.alloc(64 << 10);
  for (let at = 0; at < noise.length; at++) noise[at] = (at * 7919 + (at >> 3)) & 0xff;
  writeFileSync(join(folder, '00000001.seg'), noise);
  const { found, damages } = await read(folder);
  assert.equal(found.size, 0);
  assert.ok(damages.length > 0);
});
