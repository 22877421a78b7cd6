import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const statements = /^(?:import|export)\s(?!type\s)(?:[^'"`;=]*?\sfrom\s)?'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm

/** The files whose code a file takes in. Types are no code. */
const importsOf = (root: string, file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(statements)].map(([, fixed, onDemand]) =>
    posix.join(posix.dirname(file), fixed ?? onDemand ?? ''),
  )

/** For each file, the files that import it. */
const importersOf = (root: string, files: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const arrows = files.flatMap((from) => importsOf(root, from).map((to) => ({ from, to })))
  return new Map([...Map.groupBy(arrows, ({ to }) => to)].map(([to, from]) => [to, from.map((arrow) => arrow.from)]))
}

/** How many imports lie between a file and each that takes it in. */
const distancesFrom = (start: string, importers: ReadonlyMap<string, readonly string[]>): Map<string, number> => {
  const distances = new Map([[start, 0]])
  // A map hands out what is added meanwhile, too: the search goes outwards, step by step.
  for (const [file, distance] of distances) {
    for (const importer of importers.get(file) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1)
    }
  }
  return distances
}

const wordsOf = (path: string) => path.replace(/(\.test)?\.ts$/, '').split('/')

/**
 * Folders and names that a test shares with a file make up for a long way: `test/contract/fields` is there for
 * `functions/fields`.
 */
const kinship = (test: string, file: string): number => {
  const words = wordsOf(test)
  return wordsOf(file).filter((word) => words.includes(word)).length
}

/**
 * The tests that have to do with a file, because they import it, or import what does: those first that are the most
 * likely to notice a change of it.
 */
export const createNearestTests = (root: string, files: readonly string[]): ((file: string) => string[]) => {
  const sources = files.filter((file) => file.endsWith('.ts'))
  const importers = importersOf(root, sources)
  return (file) =>
    [...distancesFrom(file, importers)]
      .filter(([test]) => /^test\/(?:unit|contract)\/.*\.test\.ts$/.test(test))
      .map(([test, distance]) => ({ test, score: distance - 3 * kinship(test, file) }))
      .sort((a, b) => a.score - b.score)
      .map(({ test }) => test)
}
