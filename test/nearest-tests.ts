import { readFileSync } from 'node:fs'
import { join, matchesGlob, posix } from 'node:path'
import { longTests } from '../vitest.config.ts'

export const isSource = (file: string): boolean => /\.(tsx?|js)$/.test(file) && !/\.d\.ts$|^docs\//.test(file)

export const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file)

/** The npm script that runs the test. */
export const scriptOf = (test: string): 'test' | 'test:long' | 'test:deployed' => {
  if (test.startsWith('test/deployed/')) return 'test:deployed'
  return longTests.some((pattern) => matchesGlob(test, pattern)) ? 'test:long' : 'test'
}

/** The quoted path of an import or of a started program. Type imports do not count. */
const paths = /^import type .*|'((?:[\w.-]+\/)+[\w.-]+\.(?:tsx?|js))'/gm

/** The files that a file imports or starts. */
const usedBy = (root: string, file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(paths)].flatMap(([, path]) =>
    path === undefined ? [] : [path.startsWith('.') ? posix.join(posix.dirname(file), path) : path],
  )

/** For each file, the files that use it. */
const findUsers = (root: string, files: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const arrows = files.flatMap((from) => usedBy(root, from).map((to) => ({ from, to })))
  return new Map([...Map.groupBy(arrows, ({ to }) => to)].map(([to, from]) => [to, from.map((arrow) => arrow.from)]))
}

/** The number of steps between a file and each file that uses it. */
const distancesFrom = (start: string, users: ReadonlyMap<string, readonly string[]>): Map<string, number> => {
  const distances = new Map([[start, 0]])
  // Iterating over a map includes entries that are added meanwhile, so the search reaches ever more distant files.
  for (const [file, distance] of distances) {
    for (const user of users.get(file) ?? []) if (!distances.has(user)) distances.set(user, distance + 1)
  }
  return distances
}

const wordsOf = (path: string) => path.replace(/(\.test)?\.\w+$/, '').split('/')

/** Shared folders and names count more than distance: `test/contract/fields` tests `functions/fields`. */
const kinship = (test: string, file: string): number => {
  const words = wordsOf(test)
  return wordsOf(file).filter((word) => words.includes(word)).length
}

/** Tests that use a file, the likeliest to notice a change first. Otherwise tests of the same name or folder. */
export const createNearestTests = (
  root: string,
  files: readonly string[],
  isTest: (file: string) => boolean,
): ((file: string) => string[]) => {
  const users = findUsers(root, files.filter(isSource))
  return (file) => {
    const distances = distancesFrom(file, users)
    const using = [...distances.keys()].filter(isTest)
    const found = using.length > 0 ? using : files.filter((test) => isTest(test) && kinship(test, file) > 0)
    return found
      .map((test) => ({ test, score: (distances.get(test) ?? 0) - 3 * kinship(test, file) }))
      .sort((a, b) => a.score - b.score)
      .map(({ test }) => test)
  }
}
