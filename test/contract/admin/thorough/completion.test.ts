import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createProgram } from '../../../../admin/program.ts'
import { completionOf } from '../../../../client/src/command/completion.ts'
import { run } from '../../../support/program.ts'

const script = completionOf(createProgram(), 'bash')

/** The suggestions of bash for the last word. */
const offered = (...words: readonly string[]): readonly string[] => {
  const asked = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _site_admin; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', asked, 'bash', 'site-admin', ...words], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
}

test('bash suggests all commands and their options', () => {
  expect(offered('')).toEqual(expect.arrayContaining(['site', 'backup', 'serve', '--data-dir', '--json']))
  expect(offered('ba')).toEqual(['backup'])
})

test.for([
  ['commands below a command', ['site', 'cr'], ['create']],
  ['commands after an option with a value', ['--data-dir', 'x', 'site', 'cr'], ['create']],
  ['options of the command', ['site', 'create', '--na'], ['--name']],
  ['choices of an option', ['--target', ''], ['local', 'aws']],
  ['choices after =, which bash treats as a word of its own', ['--target', '='], ['local', 'aws']],
  ['words that begin with the typed letters', ['--target', '=', 'a'], ['aws']],
  ['the whole word if = is part of it, as for zsh', ['--target=a'], ['--target=aws']],
  ['commands after an option with =', ['--data-dir', '=', 'backup', 'site', 'cr'], ['create']],
  ['choices of an argument', ['object', 'remove', 'b'], ['blog']],
  ['nothing where a value may be anything', ['--data-dir', ''], []],
] as const)('bash suggests %s', ([, words, answer]) => {
  expect(offered(...words)).toEqual(answer)
})

test('completion prints a script for each shell, and zsh uses the script of bash', async () => {
  expect(await run('admin/main.js', ['completion', 'bash'])).toMatchObject({ status: 0, stdout: `${script}\n` })
  expect(completionOf(createProgram(), 'zsh')).toBe(
    `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\nautoload -Uz bashcompinit && bashcompinit\n${script}`,
  )
})
