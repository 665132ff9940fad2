type Target = Record<PropertyKey, unknown>;

/* A property that was replaced, which costs a tenth of one that is defined and deleted. */
interface Swapped {
  readonly target: Target;
  readonly name: string;
  readonly stand: object;
  readonly before: unknown;
  /** Whether what stood there was the object's own. If not, the prototype has it. */
  readonly isOwn: boolean;
}

/** Puts stand-ins in the place of properties of one request, and gives it back as it was. */
export class StandIns {
  readonly #swapped: Swapped[] = [];
  #restores: (() => void)[] | undefined;

  /** @param kept what the prototype's setter is to keep again; undefined where nothing has to be */
  swap(target: Target, name: string, stand: object, kept?: object): void {
    const isOwn = Object.hasOwn(target, name);
    if (!isOwn && !(name in target)) return;
    const before = isOwn ? target[name] : kept;
    if (Reflect.set(target, name, stand))
      this.#swapped.push({ target, name, stand, before, isOwn });
    // HTTP/2 has getters alone.
    else this.define(target, name, () => stand);
  }

  define(target: Target, name: PropertyKey, get: () => unknown): void {
    const before = Object.getOwnPropertyDescriptor(target, name);
    if (before?.configurable === false) return;
    const enumerable = before?.enumerable ?? false;
    const set = (value: unknown): void => {
      const own = { value, enumerable: true, configurable: true, writable: true };
      Object.defineProperty(target, name, own);
    };
    Object.defineProperty(target, name, { get, set, enumerable, configurable: true });
    (this.#restores ??= []).push(() => {
      if (Object.getOwnPropertyDescriptor(target, name)?.get !== get) return;
      if (before === undefined) delete target[name];
      else Object.defineProperty(target, name, before);
    });
  }

  /** What the app itself has set in the place of a stand-in stays. */
  giveBack(): void {
    for (const { target, name, stand, before, isOwn } of this.#swapped) {
      if (target[name] !== stand) continue;
      if (isOwn || before !== undefined) target[name] = before;
      else delete target[name];
    }
    if (this.#restores !== undefined) for (const restore of this.#restores) restore();
  }
}
