import type { Command } from 'commander';
import type { CommandContext } from './command/context.ts';

type AddCommand = (program: Command, context: CommandContext) => void;

/** All commands, in the order of the help. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  try: async () => (await import('./try/command.ts')).addTryCommand,
  doctor: async () => (await import('./doctor/command.ts')).addDoctorCommand,
  ladder: () => comparison('ladder'),
  bench: () => comparison('bench'),
  ci: async () => (await import('./ci/command.ts')).addCiCommand,
  stairs: async () => (await import('./stairs/command.ts')).addStairsCommand,
  flame: async () => (await import('./flame/command.ts')).addFlameCommand,
  deopts: async () => (await import('./deopts/command.ts')).addDeoptsCommand,
  heap: async () => (await import('./heap/command.ts')).addHeapCommand,
  top: async () => (await import('./access-log/top-command.ts')).addTopCommand,
  replay: async () => (await import('./access-log/replay-command.ts')).addReplayCommand,
  runtimes: async () => (await import('./runtimes/command.ts')).addRuntimesCommand,
  prove: async () => (await import('./prove/command.ts')).addProveCommand,
  advise: async () => (await import('./advise/command.ts')).addAdviseCommand,
  // The last one: it completes those that exist by then.
  completion: async () => (await import('./completion/command.ts')).addCompletionCommand,
};

/** Adds the command of that name alone, for it takes half the time to load; for any other word, all commands. */
export async function loadCommands(
  program: Command,
  context: CommandContext,
  asked: string | undefined,
): Promise<void> {
  const isAlone = asked !== undefined && asked !== 'completion' && Object.hasOwn(commands, asked);
  const names = isAlone ? [asked] : Object.keys(commands);
  for (const add of await Promise.all(names.map((name) => commands[name]!())))
    add(program, context);
}

async function comparison(name: 'ladder' | 'bench'): Promise<AddCommand> {
  const { addBenchCommand } = await import('./bench/command.ts');
  return (program, context) => addBenchCommand(program, name, context);
}
