import { type Command, Option } from 'commander';
import { LabError } from '../errors.ts';

/** Rejects options of earlier versions, each with a sentence that names its replacement. */
export function addRenamed(command: Command, instead: Readonly<Record<string, string>>): Command {
  for (const [name, sentence] of Object.entries(instead)) {
    const refuse = (): never => {
      throw new LabError('ERR_REDLINE_OPTION', `${name} is no longer an option: ${sentence}.`);
    };
    command.addOption(new Option(`${name} <value>`).argParser(refuse).hideHelp());
  }
  return command;
}
