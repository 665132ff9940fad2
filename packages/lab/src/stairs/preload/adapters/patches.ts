import { callsPatchFor } from '../../../calls-out/preload/patches.ts';
import { globalName } from '../state.ts';

interface Patch {
  /** Undefined for patches of files that are not a framework by themselves. */
  framework: string | undefined;
  apply: (source: string) => string;
}

/** Files in which frameworks receive handlers and database clients receive callbacks, and the adapter called in each. */
const patches: [ending: RegExp, framework: string | undefined, call: string, assigned?: string][] =
  [
    [
      /[\\/]express(-\d+)?[\\/]lib[\\/]router[\\/]layer\.js$/,
      'Express 4',
      'express(module.exports)',
      'module.exports=',
    ],
    [
      /[\\/]router[\\/]lib[\\/]layer\.js$/,
      'Express 5',
      'express(module.exports)',
      'module.exports=',
    ],
    [
      /[\\/]finalhandler[\\/]index\.js$/,
      undefined,
      'finalHandler(module.exports)',
      'module.exports=',
    ],
    [/[\\/]pg[\\/]lib[\\/]client\.js$/, undefined, "callbacks(module.exports,['query'])"],
    [/[\\/]pg-pool[\\/]index\.js$/, undefined, "callbacks(module.exports,['connect','query'])"],
    [/[\\/]koa[\\/]lib[\\/]application\.js$/, 'Koa', 'koa(module.exports)'],
    ...(
      [
        ['guards', 'guards-context-creator', 'GuardsContextCreator', 'guards'],
        [
          'interceptors',
          'interceptors-context-creator',
          'InterceptorsContextCreator',
          'interceptors',
        ],
        ['pipes', 'pipes-context-creator', 'PipesContextCreator', 'pipes'],
        ['router', 'router-response-controller', 'RouterResponseController', 'responses'],
        ['middleware', 'middleware-module', 'MiddlewareModule', 'middleware'],
        ['exceptions', 'exceptions-handler', 'ExceptionsHandler', 'exceptions'],
      ] as const
    ).map(([folder, file, name, adapter]): [RegExp, string, string] => [
      new RegExp(`[\\\\/]@nestjs[\\\\/]core[\\\\/]${folder}[\\\\/]${file}\\.js$`),
      'Nest',
      `nest.${adapter}(${name})`,
    ]),
  ];

/** A module's constant cannot be replaced from the end of its file: the factory of the guards is wrapped where it is referenced. */
const guardMaker = /[\\/]@nestjs[\\/]passport[\\/]dist[\\/]auth\.guard\.js$/;

export function patchFor(file: string): Patch | undefined {
  if (!/[\\/]node_modules[\\/]/.test(file)) return undefined;
  if (guardMaker.test(file)) {
    const maker = `(${globalName}.adapters.nest.passport(createAuthGuard))`;
    return {
      framework: undefined,
      apply: (source) => source.replace('(createAuthGuard)', () => maker),
    };
  }
  const found = patches.find(([ending]) => ending.test(file));
  const calls = callsPatchFor(file) ?? '';
  if (found === undefined) {
    return calls === ''
      ? undefined
      : { framework: undefined, apply: (source) => `${source}${calls}` };
  }
  const [, framework, call, assigned = ''] = found;
  // Runs at the end of the file, with its names in scope.
  const code = `${assigned}${globalName}.adapters.${call};`;
  return { framework, apply: (source) => `${source}\n;${code}\n${calls}` };
}
