import { jsonAt } from '../app/read-app.ts';
import type { TextFile } from '../app/app.ts';
import { type Project, scriptOf } from '../../project/read-project.ts';
import { stringOf } from '../syntax/node.ts';
import type { Rule, Sighting } from './rule.ts';

const development = /(^|\s)(NODE_ENV=(?!production\b)\S+)/;
const watching =
  /(^|[\s;&|])(nodemon|ts-node-dev|node-dev|tsx\s+watch|nest\s+start\s+(?:\S+\s+)*--watch|node\s+(?:\S+\s+)*--watch|node\s+(?:\S+\s+)*--inspect\S*)(?=\s|$)/;
const compiling =
  /(^|[\s;&|])(ts-node|babel-node|(?:node\s+(?:\S+\s+)*-r\s+ts-node\/register))(?=\s|$)/;

export const productionStart: Rule = {
  id: 'production-start',
  title: 'a start script of a development server',
  *look({ packageJson, project, texts }) {
    for (const file of texts) {
      if (file.name === 'Dockerfile') yield* inDockerfile(file, project);
    }
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

/** Checks the last `CMD` or `ENTRYPOINT`, in exec or in shell form. */
function* inDockerfile(file: TextFile, project: Project | undefined): Generator<Sighting> {
  const last = [
    ...file.text.matchAll(/^[^\S\n]*(?:CMD|ENTRYPOINT)[^\S\n]+((?:[^\n\\]|\\[^]?)+)/gim),
  ].at(-1);
  if (last === undefined) return;
  const command = wordsOf(last[1]!);
  const script = project && scriptOf(command.split(/\s+/), project);
  // Findings about a start script belong to package.json.
  if (script !== undefined && /^(start:prod|start|serve)$/.test(script)) return;
  const text = script === undefined ? command : project!.scripts[script]!;
  const watcher = watching.exec(text)?.[2];
  const compiler = compiling.exec(text)?.[2];
  if (watcher === undefined && compiler === undefined) return;
  const start = last.index + last[0].indexOf(last[1]!);
  yield {
    file,
    start,
    end: start + last[1]!.trimEnd().length,
    sure: 'certain',
    why:
      watcher === undefined
        ? `The image compiles the app each time it starts (${compiler}), and keeps the compiler in memory.`
        : `The image runs ${watcher}, which is meant for development.`,
    how: 'Build the app in an earlier stage, and start the result: CMD ["node", "dist/main.js"].',
  };
}

function wordsOf(given: string): string {
  try {
    return (JSON.parse(given) as string[]).join(' ');
  } catch {
    return given.replaceAll(/\\\n\s*/g, ' ').trim();
  }
}
