// A method may have been replaced before this package is loaded (an agent in `--require`), so its value at that time says nothing.
// Node tells the source of its own modules: a function whose text is not in there is somebody else's. docs/design/http.md

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

/** Whether a method, or what an accessor is made of, is Node's own. Where Node does not tell its source, everything is. */
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
    // `--pending-deprecation` would warn of it, and the app is not the one that calls it.
    process.noDeprecation = true;
    const natives = (process as never as { binding: Binding }).binding('natives');
    const texts = MODULES.map((name) => natives[name]).filter((text) => text !== undefined);
    // A Node that keeps them elsewhere: no method would be its own.
    return texts.some((text) => text.includes('function OutgoingMessage(')) ? texts : [];
  } catch {
    // The permission model forbids it.
    return [];
  } finally {
    process.noDeprecation = noDeprecation!;
  }
}
