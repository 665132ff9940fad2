import type { App } from '../app/app.ts';
import type { Edit } from '../edits.ts';
import {
  argumentsOf,
  at,
  bare,
  enclosingFunction,
  methodOf,
  nameOf,
  type Node,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import { insertImport } from './imports.ts';
import { memoisationOf } from './memoisation.ts';
import type { Rule, Sighting } from './rule.ts';

/** Blocking functions by module. `randomBytes` and digests of a line take microseconds, and have no better alternative for that. */
const blocking: Readonly<Record<string, RegExp>> = {
  fs: /^(?!existsSync$)\w+Sync$/,
  'fs-extra': /^\w+Sync$/,
  'graceful-fs': /^\w+Sync$/,
  crypto: /^(pbkdf2|scrypt|generateKeyPair|generateKey|generatePrime|checkPrime|hkdf|argon2)Sync$/,
  zlib: /^\w+Sync$/,
  child_process: /^(spawn|exec|execFile)Sync$/,
  '@redline/child-process': /^(spawn|exec|execFile)Sync$/,
  bcrypt: /^(hash|compare|genSalt)Sync$/,
  bcryptjs: /^(hash|compare|genSalt)Sync$/,
  execa: /^(execaSync|execaCommandSync|\$\.sync)$/,
  'cross-spawn': /^sync$/,
  glob: /^(globSync|sync)$/,
  'fast-glob': /^(globSync|sync)$/,
  rimraf: /^(rimrafSync|sync)$/,
};

const words: Readonly<Record<string, string>> = {
  child_process: 'waits until the process has ended',
  crypto: 'computes on the event loop',
  zlib: 'compresses on the event loop',
  bcrypt: 'computes on the event loop',
  bcryptjs: 'computes on the event loop',
};

export const syncOnRequest: Rule = {
  id: 'sync-on-request',
  title: 'a synchronous call while a request is served',
  *look(app) {
    for (const file of app.sources) {
      for (const call of file.calls()) {
        const found = blockingCall(app, file, call);
        const reach = found && app.requests.reachOf(call);
        if (found === undefined || reach === undefined || memoisationOf(file, call) === 'once')
          continue;
        yield sightingOf({ app, file, call, ...found, reach });
      }
    }
  },
};

function blockingCall(
  app: App,
  file: SourceFile,
  call: Node,
): { module: string; name: string } | undefined {
  if (call.type !== 'CallExpression') return undefined;
  const callee = at(call, 'callee')!;
  const origin = app.modules.originOf({ file, node: callee });
  const [, module, name] = /^((?:@[^/]+\/)?[^.]+)\.(.+)$/.exec(origin ?? '') ?? [];
  if (module === undefined || name === undefined || !Object.hasOwn(blocking, module))
    return undefined;
  return blocking[module]!.test(name) ? { module, name } : undefined;
}

function sightingOf({
  app,
  file,
  call,
  module,
  name,
  reach,
}: {
  app: App;
  file: SourceFile;
  call: Node;
  module: string;
  name: string;
  reach: 'certain' | 'likely';
}): Sighting {
  const isProcess = module === 'child_process' || module === '@redline/child-process';
  const what = words[module] ?? 'waits for the disk';
  const edits = asynchronous(app, file, call, module, name);
  // With a memo it runs once per key, and the code does not show the number of keys.
  const isMemo = memoisationOf(file, call) === 'a key';
  return {
    file,
    start: call.start,
    end: call.end,
    sure: isMemo ? 'hint' : reach,
    why: `${name} ${what}, and every other request waits with it.`,
    how: isProcess
      ? 'Use the asynchronous form: spawn or execFile of @redline/child-process, or a pool of processes that stay.'
      : `Use the asynchronous form, ${name.replace(/Sync$/, '')} with await.`,
    ...(edits === undefined ? {} : { edits }),
    seen: { calls: [name] },
  };
}

/** Rewrites `readFileSync(x)` as `await readFile(x)`, if the surrounding function can await. */
function asynchronous(
  app: App,
  file: SourceFile,
  call: Node,
  module: string,
  name: string,
): Edit[] | undefined {
  const callee = bare(at(call, 'callee'))!;
  const fn = enclosingFunction(call);
  if (fn?.['async'] !== true || fn['generator'] === true) return undefined;
  const short = name.replace(/Sync$/, '');
  const object = methodOf(call)?.object;
  const isAwaitable =
    /^(readFile|writeFile|appendFile|stat|lstat|readdir|mkdir|rm|unlink|copyFile|rename|access|readlink|realpath)$/.test(
      short,
    );
  let target: string | undefined;
  let added: Edit[] | undefined = [];
  if (module === 'fs' && isAwaitable) {
    if (object !== undefined && app.modules.originOf({ file, node: object }) === 'fs') {
      target = `${file.textOf(object)}.promises.${short}`;
    } else if (object === undefined && nameOf(callee) === name) {
      target = short;
      added = insertImport(file, short, 'node:fs/promises');
    }
  } else if (/^bcrypt(js)?$/.test(module) && object !== undefined) {
    target = `${file.textOf(object)}.${short}`;
  } else if (
    (module === 'zlib' || module === 'crypto') &&
    object !== undefined &&
    short !== 'generateKeyPair'
  ) {
    target = `promisify(${file.textOf(object)}.${short})`;
    added = insertImport(file, 'promisify', 'node:util');
  }
  if (target === undefined || added === undefined) return undefined;
  const given = argumentsOf(call);
  const start = given[0]?.start ?? call.end - 1;
  const text = `await ${target}(${file.text.slice(start, call.end)}`;
  // `readFileSync(x).toString()` needs the awaited value in parentheses.
  const isPart =
    call.parent?.type === 'MemberExpression' || call.parent?.type === 'TaggedTemplateExpression';
  const written = isPart ? `(${text})` : text;
  return [...added, { file, start: callee.start, end: call.end, text: written }];
}
