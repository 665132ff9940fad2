import { jsonAt } from '../app/read-app.ts';
import { stringOf } from '../syntax/node.ts';
import type { Rule } from './rule.ts';

const development = /(^|\s)(NODE_ENV=(?!production\b)\S+)/;
const watching =
  /(^|[\s;&|])(nodemon|ts-node-dev|node-dev|tsx\s+watch|nest\s+start\s+(?:\S+\s+)*--watch|node\s+(?:\S+\s+)*--watch|node\s+(?:\S+\s+)*--inspect\S*)(?=\s|$)/;
const compiling =
  /(^|[\s;&|])(ts-node|babel-node|(?:node\s+(?:\S+\s+)*-r\s+ts-node\/register))(?=\s|$)/;

export const productionStart: Rule = {
  id: 'production-start',
  title: 'a start script of a development server',
  *look({ packageJson, project }) {
    const name = ['start:prod', 'start', 'serve'].find(
      (each) => project?.scripts[each] !== undefined,
    );
    const script = name === undefined ? undefined : jsonAt(packageJson, 'scripts', name);
    const text = stringOf(script);
    if (packageJson === undefined || script === undefined || text === undefined) return;
    const environment = development.exec(text)?.[2];
    if (environment !== undefined) {
      const changed = text.replace(environment, 'NODE_ENV=production');
      yield {
        file: packageJson,
        start: script.start,
        end: script.end,
        sure: 'certain',
        why: `"${name}" sets ${environment}: Express compiles its views again, and frameworks check and report more for each request.`,
        how: 'Start it with NODE_ENV=production.',
        edits: [
          {
            file: packageJson,
            start: script.start,
            end: script.end,
            text: JSON.stringify(changed),
          },
        ],
      };
    }
    const watcher = watching.exec(text)?.[2];
    const compiler = compiling.exec(text)?.[2];
    if (watcher !== undefined || compiler !== undefined) {
      yield {
        file: packageJson,
        start: script.start,
        end: script.end,
        sure: name === 'start:prod' ? 'certain' : 'likely',
        why:
          watcher === undefined
            ? `"${name}" compiles the app each time it starts (${compiler}), and keeps the compiler in memory.`
            : `"${name}" runs ${watcher}, which is there for development.`,
        how: 'Build it once, and start what was built: node dist/main.js.',
      };
    }
  },
};
