import { nodeCommandOf } from '../project/node-command.ts';
import type { Project } from '../project/read-project.ts';
import { wrap } from '../report/columns.ts';

interface Step {
  command: string;
  text: string;
}

/** Max length of a command with its text, excluding the spaces before and between them, in 80 columns. */
const maxLineLength = 76;

/** Suggests first commands for a project, in about ten lines; printed when `redline` runs without arguments. */
export function suggestCommands(project: Project, logs: readonly string[]): string {
  const steps = project.start === undefined ? stepsOfMonorepo(project) : stepsOfApp(project, logs);
  const longest = Math.max(...steps.map(({ text }) => text.length)) + 2;
  const fitting = steps.filter(({ command }) => command.length + longest <= maxLineLength);
  const width = Math.max(0, ...fitting.map(({ command }) => command.length)) + 2;
  const lines = steps.flatMap(({ command, text }) =>
    width + text.length <= maxLineLength && command.length < width
      ? `  ${command.padEnd(width)}${text}`
      : [`  ${command}`, `      ${text}`],
  );
  return [...wrap(headOf(project), 80), '', ...lines, '', 'All commands: redline --help', ''].join(
    '\n',
  );
}

function headOf({ name, framework, start, workspaces, hasConfig }: Project): string {
  const what = [
    ...(framework === undefined ? [] : [framework]),
    ...(start === undefined ? [] : [`started by ${start.join(' ')}`]),
    ...(workspaces.length === 0
      ? []
      : [
          `${workspaces.length} of its workspaces ${workspaces.length === 1 ? 'starts' : 'start'} something`,
        ]),
    ...(hasConfig ? ['with a redline.config'] : []),
  ];
  const about = what.length === 0 ? 'no start script was found' : what.join(', ');
  return `Where to begin in ${name ?? 'this project'} (${about}):`;
}

function stepsOfApp(project: Project, logs: readonly string[]): Step[] {
  const { start, hasConfig, workspaces } = project;
  const command = start!.join(' ');
  const node = nodeCommandOf({ command: start!, env: {} }, project);
  const ofNode = hasConfig ? '' : node && ` ${anyUrl} -- ${node}`;
  const [log] = logs;
  return [
    { command: `redline try -- ${command}`, text: 'what redline gains here, in a minute' },
    {
      command: `redline doctor -- ${command}`,
      text: 'what costs time in its code',
    },
    { command: `redline top ${log ?? 'access.log'}`, text: 'which routes take the time' },
    ...(ofNode === undefined
      ? []
      : [{ command: `redline stairs${ofNode}`, text: 'what each stage of a request costs' }]),
    hasConfig
      ? { command: 'redline bench', text: 'how the variants of redline.config compare' }
      : { command: 'redline bench --help', text: 'whether a change helped' },
    {
      command: hasConfig ? 'redline ci' : 'redline ci --help',
      text: 'whether a pull request is slower',
    },
    ...(workspaces.length === 0
      ? []
      : [{ command: `redline try --cwd ${workspaces[0]}`, text: 'the same, for a workspace' }]),
  ];
}

const maxWorkspaces = 5;
/** The app takes the port of the command's URL. */
const anyUrl = 'http://127.0.0.1:3000/';

function stepsOfMonorepo({ workspaces, hasConfig }: Project): Step[] {
  return [
    ...workspaces.slice(0, maxWorkspaces).map((folder) => ({
      command: `redline try --cwd ${folder}`,
      text: 'what redline gains there, in a minute',
    })),
    ...(workspaces.length > 0 || hasConfig
      ? []
      : [{ command: 'redline try --help', text: 'what redline gains for what it starts' }]),
    ...(hasConfig
      ? [
          { command: 'redline try', text: 'what redline gains for its baseline, in a minute' },
          { command: 'redline bench', text: 'how its variants compare' },
          { command: 'redline ci', text: 'whether a pull request is slower' },
        ]
      : []),
    {
      command: `redline stairs${hasConfig ? '' : ' --help'}`,
      text: 'what each stage of a request costs',
    },
    { command: 'redline top access.log', text: 'which routes take the time' },
  ];
}
