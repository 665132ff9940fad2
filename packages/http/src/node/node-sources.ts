// A method may have been replaced before this package is loaded (an agent in `--require`), so its current value proves
// nothing. Node exposes the source of its modules: a function whose text is missing there is not Node's. See
// docs/design/http.md.

type Binding = (name: 'natives') => Record<string, string>;

const MODULES = [
  'events',
  'http',
  '_http_outgoing',
  'internal/streams/readable',
  'net',
  '_http_incoming',
  '_http_server',
  'internal/streams/writable',
  'internal/streams/destroy',
  'internal/streams/duplex',
  'internal/streams/legacy',
  'internal/stream_base_commons',
  'stream',
  'domain',
  'fs',
  'internal/fs/streams',
];

let sources: readonly string[] | undefined;
const known = new WeakMap<object, boolean>();

/**
 * Returns true if a method, or an accessor's function, is Node's own. If Node hides its source, every method counts as its
 * own.
 */
export function isNodes(method: unknown): boolean {
  if (typeof method !== 'function') return method === undefined;
  let found = known.get(method);
  if (found === undefined) {
    const text = Function.prototype.toString.call(method);
    sources ??= readSources();
    found = sources.length === 0 || sources.some((source) => source.includes(text));
    known.set(method, found);
  }
  return found;
}

function readSources(): string[] {
  const { noDeprecation } = process;
  try {
    // `--pending-deprecation` would print a warning for a call that the app did not make.
    process.noDeprecation = true;
    const natives = (process as never as { binding: Binding }).binding('natives');
    const texts = MODULES.map((name) => natives[name]).filter((text) => text !== undefined);
    // Treats a Node that moved its sources as hiding them: otherwise no method would count as its own.
    return texts.some((text) => text.includes('function OutgoingMessage(')) ? texts : [];
  } catch {
    // The permission model forbids it.
    return [];
  } finally {
    process.noDeprecation = noDeprecation!;
  }
}
