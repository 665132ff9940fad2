import { ownerNames, owners } from '../profile/owner.ts';
import { tierMarks, tierNames, tiers } from '../profile/tiers.ts';
import type { FlameResult } from './result.ts';

/** The data that the page's script draws from. Each string is stored once; a frame is eight figures. */
export interface GraphData {
  /** `tiers`: the last four figures of a node are tiers. `change`: total and self before, and the kind of change. */
  mode: 'tiers' | 'change';
  names: string[];
  places: string[];
  /** `[name, place, owner, flagged]` */
  functions: number[][];
  /** `[depth, function, total, self, …]` in pre-order */
  nodes: number[][];
  samples: number;
  /** µs of main-thread CPU per request that one sample stands for; 0 if unknown. */
  microsPerSample: number;
  /** Likewise for the earlier profile; in `change` only. */
  microsPerSampleBefore?: number;
  samplesBefore?: number;
  owners: string[];
  tiers: string[];
  marks: string;
}

export function graphDataOf(result: FlameResult): GraphData {
  const strings = new Strings();
  const places = new Strings();
  return {
    mode: 'tiers',
    functions: result.functions.map(({ name, place, owner, unoptimised }) => [
      strings.indexOf(name),
      places.indexOf(place),
      owners.indexOf(owner),
      unoptimised ? 1 : 0,
    ]),
    names: strings.all,
    places: places.all,
    nodes: result.tree,
    samples: result.samples,
    microsPerSample: microsPerSampleOf(result),
    owners: owners.map((owner) => ownerNames[owner]),
    tiers: tiers.map((tier) => tierNames[tier]),
    marks: tiers.map((tier) => tierMarks[tier]).join(''),
  };
}

export function microsPerSampleOf({ load, samples }: FlameResult): number {
  return load === undefined || samples === 0 ? 0 : load.microsPerRequest / samples;
}

export class Strings {
  readonly all: string[] = [];
  readonly #indexes = new Map<string, number>();

  indexOf(text: string): number {
    let index = this.#indexes.get(text);
    if (index === undefined) {
      index = this.all.push(text) - 1;
      this.#indexes.set(text, index);
    }
    return index;
  }
}
