import childProcess from 'node:child_process';

type ChildProcess = typeof childProcess;

/** Node's own functions, saved by `register` before it replaced them with this package's. */
export const nodeChildProcess: ChildProcess = {
  ...((childProcess as never as { [key: symbol]: ChildProcess | undefined })[
    Symbol.for('redline.child-process.nodes')
  ] ?? childProcess),
};

/** Returns the reason why the engine cannot be used, before its addon is loaded: one clause. */
export function unavailableReason(): string | undefined {
  const { env, platform, versions } = process;
  if (env['REDLINE_CHILD_PROCESS'] === 'node') return 'REDLINE_CHILD_PROCESS=node is set';
  if (versions['bun'] !== undefined) return 'Bun starts processes itself';
  if (versions['deno'] !== undefined) return 'Deno starts processes itself';
  if (platform !== 'linux') return 'the native engine is for Linux';
  if (Number.parseInt(versions.node, 10) < 22) return 'the native engine is for Node 22 or newer';
  // The permission model's checks are inside Node's own functions.
  if (process.permission !== undefined) return "Node's permission model is on";
  return undefined;
}

interface ModuleObject {
  execFile: unknown;
}

const objects: ModuleObject[] = [];

/** Registers an object that user code sees as the module. */
export function addModuleObject(object: ModuleObject): void {
  objects.push(object);
}

/**
 * Returns the module object whose `execFile` is not `own`. Node's `exec` calls the `execFile` that is on the module object
 * at that moment. Tracers rely on it (they wrap `execFile` and leave `exec` alone), and so do stubs and spies.
 */
export function objectWithOther(own: unknown): ModuleObject | undefined {
  return objects.find((object) => object.execFile !== own);
}
