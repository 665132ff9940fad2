import { isOptimised, type Tier, tiers } from '../tiers.ts';
import type { Bailout } from './code-trace.ts';
import type { CompiledCode } from './jit-dump.ts';
import { type CodeEvent, type Place, scriptOf } from './v8-log.ts';

/** A function in the source, and its tiers in V8 over time. */
export interface FunctionHistory {
  name: string;
  place: Place;
  /** The current tier; an inlined copy runs in its caller's tier instead. */
  tier: Tier;
  /** Its current optimised code. */
  code: Code | undefined;
  changes: TierChange[];
}

interface TierChange {
  micros: number;
  tier: Tier;
  /** Absent when V8 made new code; otherwise the event that discarded the old code. */
  deopt?: Deopt;
}

export interface Deopt {
  from: Tier;
  kind: string;
  reason: string;
  /** The place itself, then the places it was inlined into. */
  stack: Place[];
}

export interface Code {
  owner: FunctionHistory;
  tier: Tier;
  inlined: Set<FunctionHistory>;
}

/** A piece of code in memory. */
interface Placed {
  code: Code;
  from: number;
  to: number;
}

/** Follows V8's log, event by event: at each moment it knows the tier of every function. */
export class TierHistory {
  readonly functions: Map<string, FunctionHistory> = new Map();
  /** False if a file has several functions of that name. */
  readonly #byName = new Map<string, FunctionHistory | false>();
  readonly #bySharedInfo = new Map<string, FunctionHistory>();
  readonly #byAddress = new Map<string, Code>();
  /** Functions with code of the baseline compiler, which they fall back to. */
  readonly #withBaseline = new Set<FunctionHistory>();
  /** In order of creation. */
  readonly #placed: Placed[] = [];
  readonly #extents = new FunctionExtents<FunctionHistory>();

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
      case 'script':
        this.#extents.addScript(event.url, event.lineStarts);
        return;
      case 'source': {
        const code = this.#byAddress.get(event.address);
        if (code?.tier === 'ignition') {
          this.#extents.add(code.owner, code.owner.place.url, event.start, event.end);
        }
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
   * Resets to the code that exists when a profile begins: starting one makes V8 discard code, and list the rest. A function is
   * listed once for each code it has; the best of them runs.
   */
  restart(existing: readonly CompiledCode[]): void {
    for (const history of this.functions.values()) {
      if (history.code === undefined) continue;
      history.tier = this.#withBaseline.has(history) ? 'sparkplug' : 'ignition';
      history.code = undefined;
    }
    for (const code of existing) this.compiled(code);
  }

  /** Records code that V8 made or listed. */
  compiled({ tier, name, place, micros, address, bytes, positions }: CompiledCode): void {
    const history = this.#functionAt(name, place, tier);
    // Inlined functions are known only from the places in the code.
    const inlined = new Set<FunctionHistory>();
    for (const position of positions) {
      const around = this.#extents.at(position);
      if (around !== undefined && around !== history) inlined.add(around);
    }
    const code: Code = { owner: history, tier, inlined };
    this.#placed.push({ code, from: address, to: address + bytes });
    if (tier === 'sparkplug') this.#withBaseline.add(history);
    if (tiers.indexOf(tier) < tiers.indexOf(history.tier)) return;
    history.tier = tier;
    history.code = isOptimised(tier) ? code : undefined;
    history.changes.push({ micros, tier });
  }

  /** Records an exit from the code around an address. */
  bailout({ address, micros, kind, reason }: Bailout): void {
    // Memory is reused: the code made last is the one at the address.
    const found = this.#placed.findLast(({ from, to }) => address >= from && address < to);
    if (found !== undefined) this.#deoptimise(found.code, micros, { kind, reason, stack: [] });
  }

  /**
   * Finds a function by its name in a profile. Node 8 and 10 omit the position of inlined ones; then the name decides, if it is the
   * only one of its file.
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
    // Code may be discarded when newer code of the same function is already in use.
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

function move<Value>(map: Map<string, Value>, from: string, to: string): void {
  const value = map.get(from);
  if (value === undefined) return;
  map.delete(from);
  map.set(to, value);
}

interface Extent<Item> {
  item: Item;
  /** Characters from the start of the script. */
  start: number;
  end: number;
}

/** Finds the function that a place in the source belongs to: the innermost around it. */
class FunctionExtents<Item> {
  /** Offset of each line, by script. */
  readonly #lines = new Map<string, readonly number[]>();
  readonly #extents = new Map<string, Extent<Item>[]>();
  readonly #unsorted = new Set<string>();

  addScript(url: string, lineStarts: readonly number[]): void {
    this.#lines.set(scriptOf(url), lineStarts);
  }

  add(item: Item, url: string, start: number, end: number): void {
    const script = scriptOf(url);
    const extents = this.#extents.get(script);
    if (extents === undefined) this.#extents.set(script, [{ item, start, end }]);
    else extents.push({ item, start, end });
    this.#unsorted.add(script);
  }

  at({ url, line, column }: Place): Item | undefined {
    const script = scriptOf(url);
    const lineStart = this.#lines.get(script)?.[line - 1];
    const extents = this.#sorted(script);
    if (lineStart === undefined || extents === undefined) return undefined;
    const offset = lineStart + column - 1;
    return extents.findLast(({ start, end }) => start <= offset && offset < end)?.item;
  }

  #sorted(script: string): Extent<Item>[] | undefined {
    const extents = this.#extents.get(script);
    // Of two that begin at one place the shorter lies within the longer.
    if (this.#unsorted.delete(script)) extents?.sort((a, b) => a.start - b.start || b.end - a.end);
    return extents;
  }
}
