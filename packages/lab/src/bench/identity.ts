// cspell:ignore oldpwd shlvl windowid colorterm clicolor termcap iterm wezterm securitysessionid dbus
import { realpathSync } from 'node:fs';
import { digestOf } from '../command/stored-run.ts';
import type { Plan } from '../config/resolve-plan.ts';
import { treeStatesOf } from '../trees/tree-state.ts';
import type { Unfinished } from './result.ts';

/** The code, configuration and environment that figures of one file share. */
export type Identity = Omit<Unfinished, 'missing'>;

/**
 * Returns what another run has to have in common with this one to go on with it.
 * @param own Files and folders that this run writes, as absolute paths.
 */
export async function identify(
  plans: readonly Plan[],
  folder: string,
  own: readonly string[] = [],
): Promise<Identity> {
  const folders = plans.flatMap(({ variants }) => variants.map(({ cwd }) => cwd));
  const trees = await treeStatesOf([folder, ...folders], { base: realpathSync(folder), own });
  const groups = plans.map((plan) => [plan.group ?? '', digestOf(configurationOf(plan))]);
  return {
    trees,
    environment: digestOf(lastingEnvironment()),
    groups: Object.fromEntries(groups) as Identity['groups'],
  };
}

/** The seed differs from run to run. A function is compared by its text. */
function configurationOf(plan: Plan): object {
  const { setup, verify } = plan;
  return { ...plan, seed: undefined, setup: String(setup), verify: String(verify) };
}

/** Variables of a terminal, a session or a package manager differ from shell to shell, and no server depends on them. */
const volatile = new RegExp(
  `^(${[
    '_|PWD|OLDPWD|INIT_CWD|SHLVL|COLUMNS|LINES|STY|DISPLAY|WINDOWID|WAYLAND_DISPLAY',
    'COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE',
    'TERM|TERMCAP|TERM_\\w+|ITERM_\\w+|LC_TERMINAL\\w*|TMUX\\w*|GNOME_TERMINAL_\\w+|KITTY_\\w+|WEZTERM_\\w+|VSCODE_\\w+',
    'XDG_SESSION_\\w+|WT_SESSION|SECURITYSESSIONID|SESSION_MANAGER|INVOCATION_ID|JOURNAL_STREAM',
    'SSH_\\w+|DBUS_\\w+|GPG_TTY|GPG_AGENT_INFO|npm_\\w+',
  ].join('|')})$`,
);

function lastingEnvironment(): (readonly [string, string | undefined])[] {
  return Object.entries(process.env)
    .filter(([name]) => !volatile.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}
