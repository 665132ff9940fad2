import { around, at, enclosingFunction, isFunction } from '../syntax/node.ts';
import { runsOnFailure } from './runs-on-failure.ts';
import type { Rule } from './rule.ts';

export const consoleOnRequest: Rule = {
  id: 'console-on-request',
  title: 'console.log for each request',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! }) ?? '';
        const name = /^console\.(log|info|debug|table|dir)(\.bind\(\))?$/.exec(origin)?.[1];
        if (name === undefined || runsOnFailure(call)) continue;
        const reach = requests.reachOf(call);
        // Output on failures only, or on demand, costs nothing in normal operation.
        const fn = enclosingFunction(call);
        const condition = around(
          call,
          (above) =>
            isFunction(above) ||
            /^(IfStatement|CatchClause|ConditionalExpression|LogicalExpression|SwitchCase)$/.test(
              above.type,
            ),
        );
        if (reach === undefined || condition !== fn) continue;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why: `console.${name} formats its arguments and writes them synchronously: to a file or a pipe, the event loop waits.`,
          how: 'Write through a logger that buffers, such as pino with { sync: false }, or leave it out.',
          seen: { calls: [name] },
        };
      }
    }
  },
};
