import type { Command, Option } from 'commander';

/** The value that an option takes, as far as a shell can complete it. */
export type Value = 'file' | 'folder' | 'other' | readonly string[];

export interface CompletedOption {
  /** e.g. `-H`, `--header`. */
  names: string[];
  text: string;
  /** Undefined for a flag. */
  value: Value | undefined;
}

export interface CompletedCommand {
  name: string;
  text: string;
  options: CompletedOption[];
  /** Values of its first argument. */
  first: Value;
}

/** Lists the commands and their options, as `--help` shows them. */
export function completionTable(program: Command): CompletedCommand[] {
  return program.commands.map((command) => ({
    name: command.name(),
    text: firstSentence(command.description()),
    options: [
      ...command.options.filter(({ hidden }) => !hidden).map(completedOption),
      { names: ['-h', '--help'], text: 'display help for command', value: undefined },
    ],
    first: command.registeredArguments[0]?.argChoices ?? 'file',
  }));
}

function completedOption({ short, long, description, flags, argChoices }: Option): CompletedOption {
  const takes = /<([^>]+)>/.exec(flags)?.[1];
  return {
    names: [short, long].filter((name) => name !== undefined),
    text: firstSentence(description),
    value: takes === undefined ? undefined : (argChoices ?? valueOf(takes)),
  };
}

/** Derives the kind of value from the placeholder in the help. */
function valueOf(placeholder: string): Value {
  if (/^(file|log|path|paths)$/.test(placeholder)) return 'file';
  return placeholder === 'folder' ? 'folder' : 'other';
}

/** Returns one line without the brackets at its end, because shells show it beside the name. */
function firstSentence(text: string): string {
  return text.replace(/\s*\([^()]*\)$/, '').replaceAll(/\s+/g, ' ');
}
