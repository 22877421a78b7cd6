import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect, test } from 'vitest'

const areas = 'lib/access lib/sites lib/history lib/fields lib/categories lib/storage lib/webhooks'
const groups =
  'functions/access functions/categories functions/documentation functions/fields functions/storage functions/webhooks'

/** Rooms from the bottom up: their folders, their permitted imports, and packages that only they may import. */
const table: readonly (readonly [folders: string, mayImport: string, packages?: RegExp])[] = [
  ['lib/core', ''],
  ['lib/config', 'lib/core'],
  [areas, 'lib/core'],
  ['lib/http', 'lib/core lib/access lib/sites'],
  ['lib/contract', `lib/core ${areas} lib/http`],
  ['lib/service', `lib/core lib/config ${areas} lib/http`],
  ['lib/aws', `lib/core lib/config ${areas} lib/http lib/service`, /^(@aws-sdk\/(?!client-lambda)|@smithy\/|@middy\/)/],
  ['lib/machine', `lib/core ${areas} lib/service`, /^node:sqlite$/],
  [groups, `lib/core ${areas} lib/http lib/contract lib/service`],
  ['server', 'lib/core lib/http lib/contract'],
  ['functions/entries', `lib/core lib/config ${areas} lib/http lib/contract lib/service lib/aws ${groups} server`],
  ['local', `lib/core lib/config ${areas} lib/http lib/service lib/machine ${groups} server client/src/command`],
  ['admin', `lib/core lib/config ${areas} lib/http lib/service lib/aws lib/machine local client/src/command`],
  ['cdk', 'lib/core lib/config lib/http lib/contract', /^(aws-cdk-lib|constructs|@aws-sdk\/client-(lambda|s3))(\/|$)/],
  ['client', ''],
  ['console', 'client', /^(preact|@preact\/signals)(\/|$)/],
]

/** Development tools and tests. They may import everything. Rooms may not import them. */
const outside = /^(bin|tools|test)\/|^[^/]+\.ts$/

const root = join(import.meta.dirname, '..', '..')
const files = globSync(['**/*.{ts,tsx}', '*/main.js'], {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|cdk\.out|dist|generated|\.[^/]+)$/.test(path),
})

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Imports of a file, including types: packages by name, files by their path from the root. */
const importsOf = (file: string): string[] => {
  const statements = /^(?:import|export)\s(?:[^'"`;=]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm
  return [...textOf(file).matchAll(statements)].map(([, fixed, onDemand]) => {
    const name = fixed ?? onDemand ?? ''
    return name.startsWith('.') ? posix.join(posix.dirname(file), name) : name
  })
}

const isBelow = (folders: string, file: string): string | undefined =>
  folders.split(' ').find((folder) => folder !== '' && file.startsWith(`${folder}/`))

const isFile = (name: string): boolean => /\.(tsx?|js)$/.test(name) && name.includes('/') && !name.startsWith('@')

const isAllowed = (file: string, name: string): boolean => {
  if (name.endsWith('.json')) return true
  const row = table.find(([folders]) => isBelow(folders, file))
  if (row === undefined) return outside.test(file)
  const [folders, mayImport] = row
  if (isFile(name)) return isBelow(folders, file) === isBelow(folders, name) || isBelow(mayImport, name) !== undefined
  const owners = table.filter(([, , packages]) => packages?.test(name))
  return owners.length === 0 || owners.includes(row)
}

/** The nodes from which a path of the graph leads back to them. */
const nodesInCycles = (graph: ReadonlyMap<string, ReadonlySet<string>>): string[] => {
  const reachesItself = (start: string): boolean => {
    const found = new Set<string>()
    const open = [start]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const next of graph.get(node) ?? []) if (!found.has(next)) open.push(next) && found.add(next)
    }
    return found.has(start)
  }
  return [...graph.keys()].filter(reachesItself)
}

const sources = files.filter((file) => !file.startsWith('test/'))
const arrows = sources.flatMap((file) =>
  importsOf(file)
    .filter(isFile)
    .map((name) => [file, name] as const),
)

const graphOf = (pairs: readonly (readonly [string, string])[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const graph = new Map<string, Set<string>>()
  for (const [from, to] of pairs) if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to))
  return graph
}

test('every folder is in the table of rooms, or outside it', () => {
  const strays = files.filter((file) => !outside.test(file) && !table.some(([folders]) => isBelow(folders, file)))
  expect(strays).toEqual([])
  expect(
    table.flatMap(([folders]) => folders.split(' ')).filter((folder) => !files.some((f) => isBelow(folder, f))),
  ).toEqual([])
  expect(table.length).toBeLessThanOrEqual(16)
})

test('folders import only what the table allows', () => {
  const forbidden = sources.flatMap((file) =>
    importsOf(file)
      .filter((name) => !isAllowed(file, name))
      .map((name) => `${file} → ${name}`),
  )
  expect(forbidden).toEqual([])
})

test('files and folders do not import each other in a cycle', () => {
  expect(nodesInCycles(graphOf(arrows))).toEqual([])
  expect(nodesInCycles(graphOf(arrows.map(([from, to]) => [dirname(from), dirname(to)])))).toEqual([])
})

test.each([
  ['lib/fields/web-forms.ts', 'lib/storage/path.ts'],
  ['lib/core/errors.ts', 'lib/http/reply.ts'],
  ['lib/storage/path.ts', 'node:sqlite'],
  ['lib/aws/dynamodb/web-forms.ts', 'lib/machine/sqlite/database.ts'],
  ['functions/fields/group.ts', 'lib/aws/dynamodb/web-forms.ts'],
  ['functions/fields/group.ts', 'functions/categories/group.ts'],
  ['lib/service/deps.ts', 'test/support/hands.ts'],
  ['client/src/files.ts', 'lib/core/errors.ts'],
])('the table forbids %s to import %s', (from, to) => {
  expect(isAllowed(from, to)).toBe(false)
})

test('the acceptance cases import no code of the service', () => {
  const cases = files.filter((file) => file.startsWith('test/acceptance/') && file.endsWith('.test.ts'))
  const known = cases.flatMap((file) => importsOf(file).map((name) => `${file} → ${name}`))
  expect(known.filter((arrow) => /→ (functions|lib|local|server|admin|cdk|tools)\//.test(arrow))).toEqual([])
  expect(cases.length).toBeGreaterThan(10)
})

const rooms = table.flatMap(([folders]) => folders.split(' '))
const filesIn = (folders: string): string[] => sources.filter((file) => isBelow(folders, file) !== undefined)

const exportedFrom = (file: string): string[] =>
  [...textOf(file).matchAll(/^export (?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm)].flatMap(
    ([, name = '']) => name,
  )

/** The names that several files of one room declare, each with its room. */
const homonymsIn = (room: string): string[] => {
  const names = filesIn(room).flatMap((file) => [...new Set(exportedFrom(file))])
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].map((name) => `${room} ${name}`)
}

/** Each Lambda entry exports a `handler`. */
const known = ['functions/entries handler']

test('an exported name has one meaning inside a room', () => {
  expect(rooms.flatMap(homonymsIn).filter((homonym) => !known.includes(homonym))).toEqual([])
  expect(filesIn('lib/http').flatMap(exportedFrom).length).toBeGreaterThan(50)
})

/** A block, or consecutive lines of `//`. */
const commentsIn = (file: string): string[] =>
  (textOf(file).match(/^[ \t]*\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm) ?? []).map((comment) =>
    comment.replaceAll(/^[ \t]*(?:\/\*\*|\*\/|\*|\/\/)|\*\/$/gm, ' ').replaceAll(/\s+/g, ' '),
  )

test('comments of one file differ, because each describes one thing', () => {
  const twins = sources.flatMap((file) => {
    const comments = commentsIn(file)
    return comments.filter((comment, index) => comments.indexOf(comment) !== index).map((c) => `${file}:${c}`)
  })
  expect(twins).toEqual([])
})

test('a room has at most one comment for twenty lines', () => {
  const counts = table.map(([folders]) => {
    const files = filesIn(folders)
    const lines = files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0)
    return { folders, lines, comments: files.flatMap(commentsIn).length }
  })
  expect(counts.filter(({ lines, comments }) => comments > lines / 20)).toEqual([])
  expect(counts.reduce((sum, { comments }) => sum + comments, 0)).toBeGreaterThan(500)
})
