import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';

interface ProofFile {
  schema: 1;
  /** Of what was asked, the commit included; it may hold secrets, so only its digest is written. */
  asked: string;
  proofs: Record<string, Proof>;
}

/** The proofs of a run as they are made, so that one that was interrupted goes on where it was. */
export class EarlierProofs {
  readonly #file: string;
  readonly #content: ProofFile;
  /** Whether there is something to go on with. */
  readonly isContinued: boolean;

  private constructor(file: string, content: ProofFile) {
    this.#file = file;
    this.#content = content;
    this.isContinued = Object.keys(content.proofs).length > 0;
  }

  /** @param asked What decides on a proof, beside the change: another commit, command or request has other proofs. */
  static open(
    file: string,
    { asked, continues }: { asked: unknown; continues: boolean },
  ): EarlierProofs {
    const digest = digestOf(asked);
    const known = continues ? read(file) : undefined;
    const proofs = known?.asked === digest ? known.proofs : {};
    return new EarlierProofs(file, { schema: 1, asked: digest, proofs });
  }

  of(candidate: Candidate): Proof | undefined {
    return this.#content.proofs[keyOf(candidate)];
  }

  /** Written at once: nobody knows when a run is interrupted. */
  add(candidate: Candidate, proof: Proof): void {
    // Where nothing could be measured, another run may.
    if (proof.word === 'withheld') return;
    this.#content.proofs[keyOf(candidate)] = proof;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(this.#content, undefined, 2)}\n`);
  }
}

function read(file: string): ProofFile | undefined {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as ProofFile;
    return content.schema === 1 ? content : undefined;
  } catch {
    return undefined;
  }
}

/** The change itself: what else a finding says differs from profile to profile. */
function keyOf({ finding: { rule, diff }, preload }: Candidate): string {
  return `${rule} ${digestOf([diff, preload])}`;
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}
