import { around, at, enclosingFunction, isFunction, methodOf, nameOf } from '../syntax/node.ts';
import type { Rule } from './rule.ts';

export const consoleOnRequest: Rule = {
  id: 'console-on-request',
  title: 'console.log for each request',
  *look({ sources, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        if (method === undefined || nameOf(method.object) !== 'console') continue;
        if (!/^(log|info|debug|table|dir)$/.test(method.name)) continue;
        if (file.scopes.find('console', at(call, 'callee')!) !== undefined) continue;
        const reach = requests.reachOf(call);
        // What is said of failures only, or on demand, costs nothing while all is well.
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
          why: `console.${method.name} formats its arguments and writes them synchronously: to a file or a pipe, the event loop waits.`,
          how: 'Write through a logger that buffers, such as pino with { sync: false }, or leave it out.',
          seen: { calls: [method.name] },
        };
      }
    }
  },
};
