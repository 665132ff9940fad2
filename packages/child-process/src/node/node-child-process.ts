import childProcess from 'node:child_process';

type ChildProcess = typeof childProcess;

/** Node's own functions, as they were before `register` put this package's into their place and kept them here. */
export const nodeChildProcess: ChildProcess = {
  ...((childProcess as never as { [key: symbol]: ChildProcess | undefined })[
    Symbol.for('redline.child-process.nodes')
  ] ?? childProcess),
};

/** What rules the engine out before its addon is loaded: one clause. */
export function whyNot(): string | undefined {
  const { env, platform, versions } = process;
  if (env['REDLINE_CHILD_PROCESS'] === 'node') return 'REDLINE_CHILD_PROCESS=node is set';
  if (versions['bun'] !== undefined) return 'Bun starts processes itself';
  if (versions['deno'] !== undefined) return 'Deno starts processes itself';
  if (platform !== 'linux') return 'the native engine is for Linux';
  if (Number.parseInt(versions.node, 10) < 22) return 'the native engine is for Node 22 or newer';
  // Its checks are inside Node's own functions.
  if (process.permission !== undefined) return "Node's permission model is on";
  return undefined;
}

interface ModuleObject {
  execFile: unknown;
}

const objects: ModuleObject[] = [];

/** `object` is what a program sees as the module. */
export function addModuleObject(object: ModuleObject): void {
  objects.push(object);
}

/**
 * The module object on which something else than `own` is `execFile` now. Node's `exec` calls the `execFile` that is on the
 * module object at that moment. Tracers rely on it (they wrap `execFile` and leave `exec` alone), and so do stubs and spies.
 */
export function objectWithOther(own: unknown): ModuleObject | undefined {
  return objects.find((object) => object.execFile !== own);
}
