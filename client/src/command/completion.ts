import type { Command, Option } from 'commander'

export const shells = ['bash', 'zsh'] as const
export type Shell = (typeof shells)[number]

interface Words {
  /** The commands that the user has typed before, such as `site create`. Empty after the name of the program. */
  readonly path: string
  /** The commands and argument choices that can follow. If there are none, the shell completes file names. */
  readonly words: readonly string[]
  readonly options: readonly string[]
}

const namesOf = ({ long, short }: Option): readonly string[] => [long, short].filter((name) => name !== undefined)

const wordsOf = (program: Command): readonly Words[] => {
  const help = program.createHelp()
  const everywhere = help.visibleOptions(program).flatMap(namesOf)
  const walk = (command: Command, path: string): Words[] => {
    const children = help.visibleCommands(command)
    const words = [
      ...children.map((child) => child.name()),
      ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ]
    const options = [...new Set([...help.visibleOptions(command).flatMap(namesOf), ...everywhere])]
    const below = children
      .filter((child) => child.name() !== 'help')
      .flatMap((child) => walk(child, `${path} ${child.name()}`.trim()))
    return [{ path, words, options }, ...below]
  }
  return walk(program, '')
}

/** The options that take a value, with their choices. Without choices, the shell completes file names. */
const valuesOf = (program: Command): ReadonlyMap<string, readonly string[]> => {
  const values = new Map<string, readonly string[]>()
  const walk = (command: Command): void => {
    for (const option of command.options) {
      if (!(option.required || option.optional)) continue
      for (const name of namesOf(option)) values.set(name, option.argChoices ?? values.get(name) ?? [])
    }
    for (const child of command.commands) walk(child)
  }
  walk(program)
  return values
}

const quoted = (words: readonly string[]): string => `'${words.join(' ').replaceAll("'", '')}'`

// zsh runs bash completions through its own completion system, which new users have not switched on.
const forZsh = `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
autoload -Uz bashcompinit && bashcompinit`

/**
 * A shell script that completes the commands, options and choices of a program without starting it. Print it again
 * after an update. zsh runs the bash script through `bashcompinit`.
 */
export const completionOf = (program: Command, shell: Shell): string => {
  const name = program.name()
  const all = wordsOf(program)
  const commands = all.map(
    ({ path, words, options }) => `    ${quoted([path])}) words=${quoted(words)} options=${quoted(options)} ;;`,
  )
  const taking = valuesOf(program)
  const values = [...taking].map(([option, choices]) =>
    choices.length > 0
      ? `    ${option}) COMPREPLY=($(compgen -P "$prefix" -W ${quoted(choices)} -- "$word")); return ;;`
      : `    ${option}) COMPREPLY=(); return ;;`,
  )
  const paths = all
    .filter(({ path }) => path !== '')
    .map(({ path }) => `      ${quoted([path])}) path="\${path:+$path }$part" ;;`)
  const script = `_${name.replaceAll('-', '_')}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local path='' words='' options='' prefix='' index part
  # --option=value: three words for bash, and one for zsh.
  if [[ "$word" == '=' ]]; then word=''
  elif [[ "$before" == '=' ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"
  elif [[ "$word" == --*=* ]]; then before="\${word%%=*}" prefix="\${word%%=*}=" word="\${word#*=}"
  fi
  case "$before" in
${values.join('\n')}
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    part="\${COMP_WORDS[index]}"
    case "$part" in ${[...taking.keys()].join('|')})
      if [[ "\${COMP_WORDS[index+1]}" == '=' ]]; then ((index++)); fi
      ((index++)); continue ;;
    esac
    case "\${path:+$path }$part" in
${paths.join('\n')}
    esac
  done
  case "$path" in
${commands.join('\n')}
  esac
  if [[ "$word" == -* || -n "$words" ]]; then words="$words $options"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _${name.replaceAll('-', '_')} ${name}
`
  return shell === 'bash' ? script : `${forZsh}\n${script}`
}
