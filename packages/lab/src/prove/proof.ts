import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { proofFile, provenRules } from '@redline/eslint-plugin';
import { LabError } from '../errors.ts';

/** A piece of advice, as two functions that take the same inputs. */
export interface Proof {
  /** The rule's name: that of the file, or of the folder a `proof.cjs` lies in. */
  name: string;
  file: string;
  before: string;
  after: string;
  changesResult: string | undefined;
  /** Major version of Node that the code needs, if any. */
  since: number | undefined;
}

const require = createRequire(import.meta.url);

/**
 * @param name A rule of the plugin, or the path of a CommonJS file of the same form.
 * @throws {LabError} ERR_REDLINE_OPTION for an unknown rule, ERR_REDLINE_PROOF
 */
export function loadProof(name: string): Proof {
  const file = /[./\\]/.test(name) ? resolve(name) : proofFile(name);
  if (file === undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `Unknown rule "${name}". The rules are ${provenRules().join(', ')}; or give the path of a proof file.`,
    );
  }
  const { changesResult, since } = requireProof(file);
  const source = readFileSync(file, 'utf8');
  return {
    name: isInItsFolder(file) ? basename(dirname(file)) : stemOf(file),
    file,
    before: section(source, 'before'),
    after: section(source, 'after'),
    changesResult,
    since,
  };
}

/**
 * Returns the file of the evidence that is kept with a proof: `evidence.json` beside `proof.cjs`, `idea.json` beside `idea.cjs`.
 */
export function evidenceBeside({ file }: Proof): string {
  return join(dirname(file), `${isInItsFolder(file) ? 'evidence' : stemOf(file)}.json`);
}

/** Returns true for a rule of the plugin, or a user's own in the same form: a folder with its name. */
function isInItsFolder(file: string): boolean {
  return basename(file) === 'proof.cjs';
}

function stemOf(file: string): string {
  return basename(file).replace(/\.c?js$/, '');
}

function requireProof(file: string): { changesResult?: string; since?: number } {
  let loaded: Record<string, unknown>;
  try {
    loaded = require(file) as Record<string, unknown>;
  } catch (cause) {
    const reason = (cause as Error).message.split('\n', 1)[0]!;
    throw new LabError('ERR_REDLINE_PROOF', `${file} could not be loaded: ${reason}`, { cause });
  }
  for (const key of ['before', 'after', 'inputs']) {
    if (typeof loaded[key] !== 'function') {
      throw new LabError(
        'ERR_REDLINE_PROOF',
        `${file} exports no function "${key}"; a proof has before(input), after(input) and inputs().`,
      );
    }
  }
  return loaded;
}

/** Returns the code under `// before` or `// after`, without the wiring; the whole file if it is not marked. */
function section(source: string, name: string): string {
  const found = new RegExp(`^// ${name}\\n([^]*?)(?=^// (?:before|after|inputs)$|$(?![^]))`, 'm');
  const code = found.exec(source)?.[1] ?? source;
  return code.replace(/^exports\.(?:before|after) = ([^]*);\s*$/m, '$1').trim();
}
