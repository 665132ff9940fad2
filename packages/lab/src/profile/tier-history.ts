import type { CodeEvent, Place } from './v8-log.ts';
import { isOptimised, type Tier } from './tiers.ts';

/** A function in the source, and how V8 ran it. */
export interface FunctionHistory {
  name: string;
  place: Place;
  /** The tier it is in now; what it inlined runs in its caller's tier instead. */
  tier: Tier;
  /** Its optimised code of now. */
  code: Code | undefined;
  changes: TierChange[];
}

export interface TierChange {
  micros: number;
  tier: Tier;
  /** Absent when V8 made new code; else what threw the old code away. */
  deopt?: Deopt;
}

export interface Deopt {
  from: Tier;
  kind: string;
  reason: string;
  /** Where it happened, then what that was inlined into. */
  stack: Place[];
}

export interface Code {
  owner: FunctionHistory;
  tier: Tier;
  inlined: Set<FunctionHistory>;
}

/** Follows V8's log, event by event: at each moment it knows the tier of every function. */
export class TierHistory {
  readonly functions: Map<string, FunctionHistory> = new Map();
  /** False where a file has several functions of that name. */
  readonly #byName = new Map<string, FunctionHistory | false>();
  readonly #bySharedInfo = new Map<string, FunctionHistory>();
  readonly #byAddress = new Map<string, Code>();
  /** Functions with code of the baseline compiler: what they fall back to. */
  readonly #withBaseline = new Set<FunctionHistory>();

  apply(event: CodeEvent): void {
    switch (event.type) {
      case 'created': {
        const history = this.#functionAt(event.name, event.place, event.tier);
        this.#bySharedInfo.set(event.sharedInfo, history);
        const code = { owner: history, tier: event.tier, inlined: new Set<FunctionHistory>() };
        this.#byAddress.set(event.address, code);
        history.tier = event.tier;
        history.code = isOptimised(event.tier) ? code : undefined;
        history.changes.push({ micros: event.micros, tier: event.tier });
        if (event.tier === 'sparkplug') this.#withBaseline.add(history);
        return;
      }
      case 'deopt': {
        const code = this.#byAddress.get(event.address);
        if (code !== undefined) this.#deoptimise(code, event.micros, event);
        return;
      }
      case 'inlines': {
        const code = this.#byAddress.get(event.address);
        for (const info of event.sharedInfos) {
          const inlined = this.#bySharedInfo.get(info);
          if (inlined !== undefined) code?.inlined.add(inlined);
        }
        return;
      }
      case 'moved':
        move(this.#byAddress, event.from, event.to);
        return;
      case 'shared-info-moved':
        move(this.#bySharedInfo, event.from, event.to);
    }
  }

  /**
   * Of a function as a profile names it. Node 8 and 10 leave the position out for inlined ones; then the name decides,
   * if it is the only one of its file.
   */
  of({ name, url, line, column }: { name: string } & Place): FunctionHistory | undefined {
    const script = scriptOf(url);
    if (line > 0) return this.functions.get(`${script}:${line}:${column}`);
    return this.#byName.get(`${script} ${name}`) || undefined;
  }

  #functionAt(name: string, place: Place, tier: Tier): FunctionHistory {
    const script = scriptOf(place.url);
    const key = `${script}:${place.line}:${place.column}`;
    let history = this.functions.get(key);
    if (history === undefined) {
      history = { name, place, tier, code: undefined, changes: [] };
      this.functions.set(key, history);
      const named = `${script} ${name}`;
      this.#byName.set(named, this.#byName.has(named) ? false : history);
    }
    return history;
  }

  #deoptimise(code: Code, micros: number, said: Omit<Deopt, 'from'>): void {
    const { owner } = code;
    const { kind, reason, stack } = said;
    // Code can be thrown away when newer code of the same function is in use already.
    if (owner.code === code) {
      owner.tier = this.#withBaseline.has(owner) ? 'sparkplug' : 'ignition';
      owner.code = undefined;
    }
    owner.changes.push({
      micros,
      tier: owner.tier,
      deopt: { from: code.tier, kind, reason, stack },
    });
  }
}

/** With the inspector on, profiles name scripts by url where the log has the path. */
export function scriptOf(url: string): string {
  return url.startsWith('file://') ? decodeURIComponent(url.slice('file://'.length)) : url;
}

function move<Value>(map: Map<string, Value>, from: string, to: string): void {
  const value = map.get(from);
  if (value === undefined) return;
  map.delete(from);
  map.set(to, value);
}
