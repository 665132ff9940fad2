import { globalName } from '../state.ts';

interface Patch {
  /** Undefined for what is not one by itself. */
  framework: string | undefined;
  /** Run at the end of the file, with its names in scope. */
  code: string;
}

/** The files of frameworks where handlers are taken in, and the adapter that is called there. */
const patches: [ending: RegExp, framework: string | undefined, call: string, assigned?: string][] =
  [
    [
      /[\\/]express(-\d+)?[\\/]lib[\\/]router[\\/]layer\.js$/,
      'Express 4',
      'express(module.exports)',
    ],
    [/[\\/]router[\\/]lib[\\/]layer\.js$/, 'Express 5', 'express(module.exports)'],
    [
      /[\\/]finalhandler[\\/]index\.js$/,
      undefined,
      'finalHandler(module.exports)',
      'module.exports=',
    ],
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

export function patchFor(file: string): Patch | undefined {
  if (!/[\\/]node_modules[\\/]/.test(file)) return undefined;
  const found = patches.find(([ending]) => ending.test(file));
  if (found === undefined) return undefined;
  const [, framework, call, assigned = ''] = found;
  return { framework, code: `${assigned}${globalName}.adapters.${call};` };
}
