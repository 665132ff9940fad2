import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const packages = join(root, 'packages');
const crates = join(root, 'crates');
const importOf = /(?:from|import\()\s*'(\.[^']+)'/g;

/** A folder of `src`, or a file that lies in none. */
function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file;
}

/** Which rooms each room imports from, with one import for each that shows it. */
function importsBetweenRooms(src: string): Map<string, Map<string, string>> {
  const rooms = new Map<string, Map<string, string>>();
  for (const file of globSync('**/*.{ts,mts,cts}', { cwd: src })) {
    const from = roomOf(file);
    const targets = rooms.get(from) ?? new Map<string, string>();
    rooms.set(from, targets);
    for (const [, specifier] of readFileSync(join(src, file), 'utf8').matchAll(importOf)) {
      const imported = posix.join(dirname(file), specifier!);
      const to = roomOf(imported);
      if (to !== from && to !== '..') targets.set(to, `${file} imports ${imported}`);
    }
  }
  return rooms;
}

/** The same for the modules of a crate, by their paths from its root; what tests use does not count. */
function usesBetweenModules(src: string): Map<string, Map<string, string>> {
  const modules = new Map<string, Map<string, string>>();
  const files = globSync('**/*.rs', { cwd: src });
  const known = new Set(files.map(moduleOf));
  for (const file of files) {
    const from = moduleOf(file);
    const targets = modules.get(from) ?? new Map<string, string>();
    modules.set(from, targets);
    const text = readFileSync(join(src, file), 'utf8').replaceAll(/\/\/.*$/gm, '');
    const [code] = text.split('#[cfg(test)]\nmod ');
    for (const [, one, several] of code!.matchAll(/\bcrate::(?:(\w+)|\{([^}]+)\})/g)) {
      for (const to of (one ?? several!).split(',').map((name) => name.trim().split('::')[0]!)) {
        if (to !== from && known.has(to)) targets.set(to, `${file} uses ${to}`);
      }
    }
  }
  return modules;
}

function moduleOf(file: string): string {
  return file.split('/')[0]!.replace(/\.rs$/, '');
}

/** The imports that lead from a room back to itself; undefined where none do. */
function circleIn(rooms: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] | undefined {
  const done = new Set<string>();
  const path: { room: string; reason: string }[] = [];
  const walk = (room: string, reason: string): string[] | undefined => {
    const start = path.findIndex((step) => step.room === room);
    if (start >= 0) return [...path.slice(start + 1).map((step) => step.reason), reason];
    if (done.has(room)) return undefined;
    path.push({ room, reason });
    for (const [to, why] of rooms.get(room) ?? []) {
      const circle = walk(to, why);
      if (circle !== undefined) return circle;
    }
    path.pop();
    done.add(room);
    return undefined;
  };
  for (const room of rooms.keys()) {
    const circle = walk(room, '');
    if (circle !== undefined) return circle;
  }
  return undefined;
}

test('Each folder in the root is in the picture of ARCHITECTURE.md, and no other', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
  const folders = new Set(files.filter((file) => file.includes('/')).map(roomOf));
  const picture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const named = [...picture.matchAll(/^[├└] ([\w.-]+)\//gm)].map(([, name]) => name!);
  assert.deepEqual(new Set(named), folders);
});

describe('No folder of a package imports from one that imports from it, by however many steps:', () => {
  for (const name of readdirSync(packages)) {
    const src = join(packages, name, 'src');
    if (!existsSync(src)) continue;
    test(name, () => {
      const rooms = importsBetweenRooms(src);
      assert.ok(rooms.size > 1);
      assert.deepEqual(circleIn(rooms), undefined);
    });
  }

  test('a circle is found, with the imports it consists of', () => {
    const rooms = new Map([
      ['a', new Map([['b', 'a/1 imports b/1']])],
      ['b', new Map([['c', 'b/2 imports c/1']])],
      ['c', new Map([['b', 'c/2 imports b/3']])],
    ]);
    assert.deepEqual(circleIn(rooms), ['b/2 imports c/1', 'c/2 imports b/3']);
  });
});

describe('No module of a crate uses one that uses it, by however many steps:', () => {
  for (const name of readdirSync(crates)) {
    test(name, () => {
      const modules = usesBetweenModules(join(crates, name, 'src'));
      assert.ok(modules.size > 1);
      assert.deepEqual(circleIn(modules), undefined);
    });
  }
});
