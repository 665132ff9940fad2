import type { CompletedCommand, CompletedOption, Value } from './table.ts';

export function fishCompletion(commands: readonly CompletedCommand[]): string {
  return `# redline completion fish
function __redline_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv; and not contains -- -- $words
end
function __redline_is_first
    test (count (commandline -opc)) -eq 1
end
complete -c redline -f
complete -c redline -n __redline_is_first -s V -l version -d 'output the version number'
complete -c redline -n __redline_is_first -s h -l help -d 'display help for command'
complete -c redline -n 'contains -- -- (commandline -opc)' -F
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ name, text, options, first }: CompletedCommand): string[] {
  const isIt = `complete -c redline -n '__redline_is ${name}'`;
  return [
    `complete -c redline -n __redline_is_first -a ${name} -d ${quoted(text)}`,
    `${isIt} ${argumentOf(first)}`,
    ...options.map((option) => `${isIt} ${fishOption(option)}`),
  ];
}

function argumentOf(value: Value): string {
  return typeof value === 'string' ? '-F' : `-a ${quoted(value.join(' '))}`;
}

function fishOption({ names, text, value }: CompletedOption): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  return [...flags, ...takes(value), `-d ${quoted(text)}`].join(' ');
}

function takes(value: Value | undefined): string[] {
  if (value === undefined) return [];
  if (value === 'file') return ['-r', '-F'];
  if (value === 'folder') return ['-x', "-a '(__fish_complete_directories)'"];
  return value === 'other' ? ['-x'] : ['-x', `-a ${quoted(value.join(' '))}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
