// cspell:words compdef funcstack
import type { CompletedCommand, CompletedOption, Value } from './table.ts';

export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef redline
# redline completion zsh
_redline() {
  local -a commands
  commands=(
${commands.map(({ name, text }) => `    ${quoted(`${name}:${text.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  # The command of the app follows the dashes.
  local -i dashes=\${words[(i)--]}
  if (( dashes < CURRENT )); then
    words=("\${(@)words[dashes+1,-1]}")
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    [[ $PREFIX == -* ]] && _arguments '(-V --version)'{-V,--version}'[output the version number]' '(-h --help)'{-h,--help}'[display help]'
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${commands.map(zshCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _redline ]]; then
  _redline "$@"
else
  compdef _redline redline
fi
`;
}

function zshCase({ name, options, first }: CompletedCommand): string {
  const lines = [...options.map(zshOption), `'*: :${actionOf(first)}'`];
  return `    ${name})
      _arguments -s -S \\
${lines.map((line) => `        ${line}`).join(' \\\n')}
      ;;`;
}

function zshOption({ names, text, value }: CompletedOption): string {
  const shown = text.replaceAll(/[[\]:\\]/g, '\\$&');
  const takes = value === undefined ? '' : `: :${actionOf(value)}`;
  const about = quoted(`[${shown}]${takes}`);
  // `--name=`: the value may follow `=` or be the next word.
  const given = names.map((name) =>
    value !== undefined && name.startsWith('--') ? `${name}=` : name,
  );
  return given.length === 1 ? `'*'${given[0]}${about}` : `'*'{${given.join(',')}}${about}`;
}

function actionOf(value: Value): string {
  if (value === 'file') return '_files';
  if (value === 'folder') return '_files -/';
  return value === 'other' ? '( )' : `(${value.join(' ')})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
