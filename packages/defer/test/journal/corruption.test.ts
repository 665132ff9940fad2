import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { encodeJobRecord } from '../../src/journal/job-record.ts';
import { nodeFs, type JournalFs } from '../../src/journal/journal-fs.ts';
import { Journal } from '../../src/journal/journal.ts';
import { recoverJournal, type Damage } from '../../src/journal/recover.ts';
import { KeyRing } from '../../src/seal/key-ring.ts';
import { resolveSeal } from '../../src/seal/seal-options.ts';
import { temporaryFolder } from '../harness.ts';

const id = 'abc-123';
const jobs = ['one', 'zwei – mit Umlaut ü', 'three', 'four'];

/** Each job in a write of its own. */
async function writeJournal(
  folder: string,
  level?: 'process' | 'disk',
  fs: JournalFs = nodeFs,
  keys?: KeyRing,
): Promise<Journal> {
  const journal = new Journal(id, folder, {
    fs,
    clock: systemClock,
    segmentBytes: 1 << 20,
    replayWindowMs: 0,
    keys,
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
    await journal.whenIdle();
  }
  if (level === undefined) journal.release();
  return journal;
}

async function read(
  folder: string,
  keys?: KeyRing,
): Promise<{ found: Map<number, string>; damages: Damage[] }> {
  const found = new Map<number, string>();
  const names = readdirSync(folder);
  const journal = { fs: nodeFs, id, folder, names, keys };
  const { damages } = await recoverJournal(journal, 0, (number, { json }) => {
    found.set(number, JSON.parse(json));
  });
  return { found, damages };
}

function keyRing(): KeyRing {
  const key = Buffer.alloc(32, 7);
  const keys = new KeyRing(
    resolveSeal({ currentKey: () => ({ id: 'first', key }), keyOf: () => key })!,
  );
  void keys.renew();
  return keys;
}

for (const [kind, keys] of [
  ['segment', undefined],
  ['sealed segment', keyRing()],
] as const) {
  describe(`a ${kind} with one wrong byte`, () => {
    for (const [what, change] of [
      ['one bit flipped', (byte: number) => byte ^ 1],
      ['another bit flipped', (byte: number) => byte ^ 0x40],
      ['all bits flipped', (byte: number) => byte ^ 0xff],
      ['zero', (byte: number) => (byte === 0 ? 0x5a : 0)],
    ] as const) {
      test(`is read but for the job it is in, and is reported, wherever the byte is: ${what}`, async (t) => {
        const folder = temporaryFolder(t);
        await writeJournal(folder, undefined, nodeFs, keys);
        const file = join(folder, '00000001.seg');
        const whole = readFileSync(file);
        assert.equal((await read(folder, keys)).found.size, jobs.length);
        assert.deepEqual((await read(folder, keys)).damages, []);
        const first = firstJobIn(whole);
        for (let at = 0; at < whole.length; at++) {
          const damaged = Buffer.from(whole);
          damaged[at] = change(damaged[at]!);
          writeFileSync(file, damaged);
          const { found, damages } = await read(folder, keys);
          assert.equal(damages.length, 1, `byte ${at}`);
          // The note is there twice.
          assert.equal(found.size, at < first ? jobs.length : jobs.length - 1, `byte ${at}`);
          // A complete record may have been acknowledged: it is not a torn write, even at the end.
          if (what !== 'zero' && at >= 16) assert.equal(damages[0]!.kind, 'damaged', `byte ${at}`);
          assert.ok(damages[0]!.bytes > 0);
          for (const [number, text] of found) assert.equal(text, jobs[number - 1], `byte ${at}`);
        }
      });
    }
  });

  test(`a ${kind} cut off anywhere gives every complete job, and reports the torn one`, async (t) => {
    const folder = temporaryFolder(t);
    await writeJournal(folder, undefined, nodeFs, keys);
    const file = join(folder, '00000001.seg');
    const whole = readFileSync(file);
    const ends = frameEnds(whole);
    for (let length = 0; length <= whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length));
      const { found, damages } = await read(folder, keys);
      const expected = ends.filter(({ end, isJob }) => isJob && end <= length).length;
      assert.equal(found.size, expected, `length ${length}`);
      const isWhole = length === 16 || ends.some(({ end }) => end === length);
      assert.equal(damages.length, isWhole ? 0 : 1, `length ${length}`);
      for (const damage of damages) assert.equal(damage.kind, 'torn', `length ${length}`);
      if (length < 40 || isWhole) continue;
      // As a power failure may leave it: the file has its length, and not its bytes.
      writeFileSync(file, Buffer.concat([whole.subarray(0, length), Buffer.alloc(4_096)]));
      const [damage] = (await read(folder, keys)).damages;
      assert.equal(damage?.kind, 'torn', `length ${length} and zeros`);
    }
  });
}

/** The ends of its frames. Jobs are of the kinds 1 and 6. */
function frameEnds(whole: Buffer): { end: number; isJob: boolean }[] {
  const ends: { end: number; isJob: boolean }[] = [];
  for (let start = 16; start < whole.length;) {
    const end = start + 20 + whole.readUInt32BE(start + 8);
    ends.push({ end, isJob: whole[start + 5] === 1 || whole[start + 5] === 6 });
    start = end;
  }
  return ends;
}

function firstJobIn(whole: Buffer): number {
  const ends = frameEnds(whole);
  return ends[ends.findIndex(({ isJob }) => isJob) - 1]?.end ?? 16;
}

test('a whole frame that is no record stops no other', async (t) => {
  const folder = temporaryFolder(t);
  const journal = await writeJournal(folder, 'process');
  journal.append('mail', '["id","mail","send",null,1,1,null,undefined]\n1');
  await journal.whenIdle();
  journal.release();
  const { found, damages } = await read(folder);
  assert.deepEqual([...found.values()], jobs);
  assert.deepEqual(
    damages.map(({ kind }) => kind),
    ['damaged'],
  );
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
