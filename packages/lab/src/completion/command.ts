// cspell:words compinit
import { Argument, type Command } from 'commander';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { completionTable } from './table.ts';
import { zshCompletion } from './zsh.ts';

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** Must be added last, because it completes the commands that exist by then. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(Object.keys(shells)))
    .addHelpText('after', helpText)
    .action((shell: keyof typeof shells) => {
      process.stdout.write(shells[shell](completionTable(program)));
    });
}

const helpText = `
Examples:
  source <(redline completion bash)                                    in ~/.bashrc
  source <(redline completion zsh)                                     in ~/.zshrc, after compinit
  redline completion fish > ~/.config/fish/completions/redline.fish

Exit status: 0 done, 2 wrong input.`;
