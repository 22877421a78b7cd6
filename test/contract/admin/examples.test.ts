import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { examples } from '../../../admin/examples.ts'
import { createProgram } from '../../../admin/program.ts'

/** Every command that does something, by the words that lead to it. */
const leavesOf = (command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] =>
  command.commands.length === 0
    ? [[words.join(' '), command]]
    : command.commands.flatMap((child) => leavesOf(child, [...words, child.name()]))

const helpOf = (command: Command): string => {
  let text = ''
  command.configureOutput({
    writeOut: (some) => {
      text += some
    },
  })
  command.outputHelp()
  return text
}

/** The words of a command line, as a shell takes them apart. */
const wordsOf = (line: string): readonly string[] =>
  Array.from(line.replace(/ > .*/, '').matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare ?? '')

describe('the help of every command', () => {
  for (const [name, command] of leavesOf(createProgram())) {
    test(`shows an example that the command takes: ${name}`, () => {
      const line = examples[name]
      expect(helpOf(command)).toMatch(/\nExample:\n {2}site-admin /)
      expect(line?.startsWith(name)).toBe(true)
      const program = createProgram()
      const done: string[] = []
      for (const [own, each] of leavesOf(program)) each.action(() => void done.push(own))
      program.parse([...wordsOf(line ?? '')], { from: 'user' })
      expect(done).toEqual([name])
    })
  }

  test('is shown for commands alone that there are', () => {
    expect(Object.keys(examples).toSorted()).toEqual(
      leavesOf(createProgram())
        .map(([name]) => name)
        .toSorted(),
    )
  })
})
