// The screen of `redline try`, from its committed result file.
import { renderTryTerminal, type TryResult } from '@redline/lab';

export function tryScreen(result: TryResult): string {
  const { machine } = result.bench;
  const screen = renderTryTerminal(result, { width: 80, colour: false, unicode: true });
  return `\`\`\`
$ ${result.invocation.replace(/ --json \S+/, '')}
${screen.replace(/^─+\n/, '').trimEnd()}
\`\`\`

Measured ${result.startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}.`;
}
