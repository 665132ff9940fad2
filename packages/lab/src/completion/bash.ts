// cspell:words mapfile CWORD COMPREPLY compgen compopt
import type { CompletedCommand, CompletedOption } from './table.ts';

/** Generates the script for bash 3.2 (macOS) and newer: no associative arrays, no `mapfile`. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `# redline completion bash
_redline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command= options='-V --version -h --help' kind= first='${names}' index word
  COMPREPLY=()
  # bash takes \`=\` for a word of its own.
  if [[ $current == '=' ]]; then
    current=
  elif [[ $previous == '=' ]]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ $word == '--' ]]; then
      kind=file
      if ((index == COMP_CWORD - 1)); then kind=program; fi
      break
    fi
    if [[ -z $command && $word != -* ]]; then command=$word; fi
  done
  if [[ -z $kind ]]; then
    case $command in
${commands.map(bashCase).join('\n')}
    esac
  fi
  local IFS=$'\\n'
  if [[ -z $kind && $current == -* ]]; then
    kind=word
    first=$options
  elif [[ -z $kind && -n $first ]]; then
    kind=word
  fi
  case $kind in
    word) IFS=' ' ; COMPREPLY=($(compgen -W "$first" -- "$current")) ;;
    program) COMPREPLY=($(compgen -c -- "$current")) ;;
    other) ;;
    folder)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "$current"))
      ;;
    *)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$current"))
      ;;
  esac
}
complete -F _redline redline
`;
}

function bashCase({ name, options, first }: CompletedCommand): string {
  const names = options.flatMap((each) => each.names).join(' ');
  const groups = Map.groupBy(
    options.filter(({ value }) => value !== undefined),
    ({ value }) => (typeof value === 'string' ? `kind=${value}` : wordsOf(value!)),
  );
  const cases = [...groups].map(
    ([action, all]) => `          ${all.flatMap(namesOf).join(' | ')}) ${action} ;;`,
  );
  return `      ${name})
        options='${names}'
        first='${typeof first === 'string' ? '' : first.join(' ')}'
        case $previous in
${cases.join('\n')}
        esac
        ;;`;
}

function wordsOf(words: readonly string[]): string {
  return `kind=word first='${words.join(' ')}'`;
}

function namesOf({ names }: CompletedOption): string[] {
  return names;
}
