import type { Command } from 'commander'

/** What can be completed: the commands, and the options of each. */
const wordsOf = (program: Command) => {
  const options = (command: Command) => command.options.flatMap(({ long }) => (long ? [long] : []))
  const shared = [...options(program), '--help']
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: [...options(command), ...shared],
  }))
}

const bash = (program: Command): string => {
  const commands = wordsOf(program)
  const cases = commands.map(({ name, options }) => `    ${name}) words="${options.join(' ')}" ;;`)
  return `_site_files() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) command="$word"; break ;; esac
  done
  case "$command" in
    "") words="${commands.map(({ name }) => name).join(' ')}" ;;
${cases.join('\n')}
  esac
  if [[ "$current" == -* || -z "$command" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _site_files site-files
`
}

const zsh = (program: Command): string => {
  const commands = wordsOf(program)
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`
  const described = commands.map(({ name, description }) => `    ${quoted(name)}':'${quoted(description)}`)
  const cases = commands.map(({ name, options }) => `    ${name}) compadd -- ${options.join(' ')} ;;`)
  return `#compdef site-files
_site_files() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  elif [[ "$PREFIX" == -* ]]; then
    case "$words[2]" in
${cases.join('\n')}
    esac
  else
    _files
  fi
}
compdef _site_files site-files
`
}

export const shells = ['bash', 'zsh'] as const

/** The script that a shell reads to complete commands, options and files. */
export const completionFor = (shell: (typeof shells)[number], program: Command): string =>
  shell === 'bash' ? bash(program) : zsh(program)
