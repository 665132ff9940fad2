import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedProfiles, profilesOfTheBoard } from './profiles.ts';

const types = ['flagship', 'emerging', 'experimental', 'engine', 'infrastructure'];
const modes = ['standard', 'tuned'];
const axes = ['routing', 'middleware', 'request', 'response'];
const texts = ['display_name', 'language', 'engine', 'description', 'repo'] as const;

export interface Meta {
  readonly tests: readonly string[];
}

/** Returns the reasons why the board would reject an entry's folder, as sentences. */
export function folderComplaints(folder: string): string[] {
  return [...missingFiles(folder), ...metaComplaints(readMeta(folder)), ...imageComplaints(folder)];
}

export function readMeta(folder: string): Meta {
  return JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')) as Meta;
}

function missingFiles(folder: string): string[] {
  return ['Dockerfile', 'package.json']
    .filter((name) => !existsSync(join(folder, name)))
    .map((name) => `${name} is missing`);
}

export function metaComplaints(meta: Meta): string[] {
  const fields = meta as Meta & Record<string, unknown>;
  const { type, mode, enabled, tests, maintainers, completeness = {} } = fields;
  const given = Object.entries(completeness as object);
  return [
    ...texts
      .filter((name) => typeof fields[name] !== 'string' || fields[name] === '')
      .map((name) => `meta.json has no ${name}`),
    !types.includes(type as string) && `meta.json has the type ${type}; known are ${types.join()}`,
    !modes.includes(mode as string) && `meta.json has the mode ${mode}; known are ${modes.join()}`,
    typeof enabled !== 'boolean' && 'meta.json does not say whether it is enabled',
    !Array.isArray(maintainers) && 'meta.json has no list of maintainers',
    ...given
      .filter(([axis, value]) => !axes.includes(axis) || typeof value !== 'boolean')
      .map(([axis]) => `meta.json has completeness.${axis}; known are ${axes.join()}`),
    tests.length === 0 && 'meta.json names no tests',
    ...tests
      .filter((name) => !profilesOfTheBoard.has(name))
      .map((name) => `meta.json names the test ${name}, which the board does not have`),
    ...tests
      .filter((name) => profilesOfTheBoard.has(name) && !checkedProfiles.has(name))
      .map((name) => `meta.json names the test ${name}, which nothing here checks`),
  ].filter((each) => each !== false);
}

function imageComplaints(folder: string): string[] {
  const lines = readFileSync(join(folder, 'Dockerfile'), 'utf8').split('\n');
  const images = lines.flatMap((line) => /^FROM\s+(\S+)/.exec(line)?.[1] ?? []);
  if (images.length === 0) return ['Dockerfile has no FROM'];
  return images.filter((image) => !isPinned(image)).map((image) => `FROM ${image} has no version`);
}

/** Moving tags are rejected: they would measure other software next month. */
export function isPinned(image: string): boolean {
  if (image.includes('@sha256:')) return true;
  const tag = /:([^/]+)$/.exec(image)?.[1];
  return tag !== undefined && !/^(?:latest|stable|nightly)(?:-|$)/.test(tag);
}
