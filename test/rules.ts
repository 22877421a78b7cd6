import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = 'docs/rules.md'
const root = join(import.meta.dirname, '..')
const list = '[AEFCSUHTKVO]-\\d+(?:, [AEFCSUHTKVO]-\\d+)*'
const citation = new RegExp(`\\((${list})(?=[);])|(?<![\\w-])(${list}):(?=\\s|$)`, 'gm')

export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Source, tests and documentation, by their paths from the root, without the examples in unit/rules.test.ts. */
export const findFiles = (): string[] =>
  globSync(['**/*.{ts,tsx,js,css,md}', 'package.json'], {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|cdk\.out|dist|generated|reports|coverage|\.[^/]+)$/.test(path),
  }).filter((file) => file !== 'test/unit/rules.test.ts')

/** Ids in the order of the page, which lists rules as bullets and in tables. */
export const readRules = (text = read(page)): string[] =>
  [...text.matchAll(/^(?:- |\| )\*\*([A-Z]-\d+)\*\*/gm)].map(([, id = '']) => id)

/** The ids outside of sections that say "Not built yet". */
export const readBuiltRules = (text = read(page)): string[] =>
  text
    .split(/^#{2,} /m)
    .filter((section) => !section.includes('\nNot built yet.\n'))
    .flatMap(readRules)

/** Ids that a text cites: `(S-12, F-3)`, `(S-12; 400/104028)` or `S-12:`. */
export const readCitations = (text: string): string[] =>
  [...text.matchAll(citation)].flatMap(([, inParentheses, beforeColon]) =>
    (inParentheses ?? beforeColon ?? '').split(', '),
  )

/** Rules that none of the texts cites. */
export const findUncited = (rules: readonly string[], texts: readonly string[]): string[] => {
  const cited = new Set(texts.flatMap(readCitations))
  return rules.filter((id) => !cited.has(id))
}

/** Shared suites of cases are tests too. */
export const findTests = (): string[] =>
  findFiles().filter((file) => /^test\/.*(?:\.test\.tsx?|\.suite\.ts)$/.test(file))

/** The next free id of each section. */
export const findFreeIds = (rules: readonly string[]): string[] =>
  [...Map.groupBy(rules, (id) => id.slice(0, 1))].map(
    ([section, ids]) => `${section}-${1 + Math.max(...ids.map((id) => Number(id.slice(2))))}`,
  )

if (import.meta.main) {
  const rules = readBuiltRules()
  const uncited = findUncited(rules, findTests().map(read))
  for (const id of uncited) console.log(id)
  console.log(`Tests cite ${rules.length - uncited.length} of ${rules.length} built rules.`)
  console.log(`The next free ids are ${findFreeIds(readRules()).join(', ')}.`)
}
