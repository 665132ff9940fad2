/** One segment of a path, with the tallies of the requests that end there. */
interface Node<Tally> {
  children: Map<string, Node<Tally>> | undefined;
  /** By method. */
  tallies: Map<string, Tally> | undefined;
  /** Through this segment. */
  requests: number;
  /** True if its values form one route, which new values join. */
  isFolded: boolean;
}

export interface FoldedLevel {
  /** e.g. `/blog/:name` */
  route: string;
}

const maxSiblings = 500;
const maxNodes = 20_000;
const minSiblings = 30;
/** A segment with this share of its level's requests keeps its name: `/api` among ten thousand guesses of a scanner. */
const keptShare = 0.005;

/**
 * Counts by route in bounded memory: a level of the path with more than 500 values becomes `:name`, except for its frequent values.
 * If all levels together hold too many nodes, the bound is halved until they fit.
 */
export class RouteTree<Tally> {
  readonly #root: Node<Tally> = newNode();
  readonly #create: () => Tally;
  readonly #merge: (into: Tally, from: Tally) => void;
  #nodes = 1;
  #siblings = maxSiblings;

  constructor(create: () => Tally, merge: (into: Tally, from: Tally) => void) {
    this.#create = create;
    this.#merge = merge;
  }

  /** Returns the tally of a route, such as `/users/:id` or `/orders?page=1`. */
  tallyOf(method: string, route: string): Tally {
    // Before the descent: a node merged away on the way down would lose its count.
    if (this.#nodes > maxNodes) this.#foldMore();
    let node = this.#root;
    node.requests++;
    let start = route.startsWith('/') ? 1 : 0;
    const query = route.indexOf('?');
    const pathEnd = query < 0 ? route.length : query;
    for (;;) {
      const slash = route.indexOf('/', start);
      const end = slash < 0 || slash > pathEnd ? pathEnd : slash;
      node = this.#child(node, route.slice(start, end));
      if (end === pathEnd) break;
      start = end + 1;
    }
    if (query >= 0) node = this.#child(node, route.slice(query));
    node.tallies ??= new Map();
    let tally = node.tallies.get(method);
    if (tally === undefined) {
      tally = this.#create();
      node.tallies.set(method, tally);
    }
    return tally;
  }

  /** Returns every route with its tally, and the folded levels. */
  entries(): { routes: { method: string; route: string; tally: Tally }[]; folded: FoldedLevel[] } {
    const routes: { method: string; route: string; tally: Tally }[] = [];
    const folded: FoldedLevel[] = [];
    const walk = (node: Node<Tally>, route: string): void => {
      if (node.isFolded) {
        const hasQueries = [...node.children!.keys()].some((name) => name.startsWith('?'));
        folded.push({ route: hasQueries ? `${route}${anyQuery}` : `${route}/${anyName}` });
      }
      for (const [method, tally] of node.tallies ?? []) {
        routes.push({ method, route: route || '/', tally });
      }
      for (const [name, child] of node.children ?? []) {
        walk(child, name.startsWith('?') ? route + name : `${route}/${name}`);
      }
    };
    walk(this.#root, '');
    return { routes, folded };
  }

  #child(node: Node<Tally>, name: string): Node<Tally> {
    const children = (node.children ??= new Map());
    let child = children.get(name);
    if (child === undefined && node.isFolded) child = children.get(foldedName(name));
    if (child === undefined) {
      child = newNode();
      // Copied, because a slice keeps the whole chunk of the log alive.
      children.set(` ${name}`.slice(1), child);
      this.#nodes++;
      if (children.size > this.#siblings) this.#fold(node);
      child = children.get(name) ?? children.get(foldedName(name))!;
    }
    child.requests++;
    return child;
  }

  #fold(node: Node<Tally>): void {
    const children = node.children!;
    const whole = [...children.values()].reduce((sum, { requests }) => sum + requests, 0);
    for (const [name, child] of children) {
      const isKept = name.startsWith(':') || child.requests > Math.max(whole * keptShare, 10);
      if (isKept) continue;
      children.delete(name);
      this.#nodes--;
      const key = foldedName(name);
      const into = children.get(key);
      if (into === undefined) {
        children.set(key, child);
        this.#nodes++;
      } else this.#join(into, child);
    }
    node.isFolded = true;
  }

  #join(into: Node<Tally>, from: Node<Tally>): void {
    into.requests += from.requests;
    into.isFolded ||= from.isFolded;
    for (const [method, tally] of from.tallies ?? []) {
      into.tallies ??= new Map();
      const own = into.tallies.get(method);
      if (own === undefined) into.tallies.set(method, tally);
      else this.#merge(own, tally);
    }
    for (const [name, child] of from.children ?? []) {
      into.children ??= new Map();
      const own = into.children.get(name);
      if (own === undefined) into.children.set(name, child);
      else {
        this.#nodes--;
        this.#join(own, child);
      }
    }
    if ((into.children?.size ?? 0) > this.#siblings) this.#fold(into);
  }

  #foldMore(): void {
    while (this.#nodes > maxNodes / 2 && this.#siblings > minSiblings) {
      this.#siblings = Math.max(minSiblings, Math.floor(this.#siblings / 2));
      const walk = (node: Node<Tally>): void => {
        if ((node.children?.size ?? 0) > this.#siblings) this.#fold(node);
        for (const child of node.children?.values() ?? []) walk(child);
      };
      walk(this.#root);
    }
  }
}

const anyName = ':name';
const anyQuery = '?…';

function foldedName(name: string): string {
  return name.startsWith('?') ? anyQuery : anyName;
}

function newNode<Tally>(): Node<Tally> {
  return { children: undefined, tallies: undefined, requests: 0, isFolded: false };
}
