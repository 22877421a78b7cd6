import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'

interface Room {
  /** Which files are in it. A group in the expression makes a room of each folder that it finds: of each area, of each group of operations. */
  readonly files: RegExp
  /** Rooms further down, by name. What is in one room may import each other. */
  readonly may: readonly string[]
  /** Packages that are kept from everybody else. */
  readonly packages?: RegExp
}

/** What `lib` is for whoever stands above it, but the hand of AWS, which is for those only who put the service on it. */
const lib = [
  'the composition root',
  'the core',
  'an area',
  'the kinds of objects',
  'the ports',
  'settings',
  'shared words',
]
const functions = ['a group of operations', 'what groups share', 'the route table']

/** Every room, from the top to the bottom: arrows only run downwards. It is the table of the architecture. */
const rooms: Readonly<Record<string, Room>> = {
  'the document': {
    files: /^openapi\//,
    may: ['the operator', 'the hand of one machine', 'the server', ...functions, ...lib],
  },
  'the operator': {
    files: /^admin\//,
    may: ['the hand of one machine', 'the hand of AWS', 'what both commands share', ...lib],
  },
  // The pages of the service in a browser: they speak to it by the client alone.
  'the console': {
    files: /^console\/(?!build\.ts)/,
    may: ['the client'],
    packages: /^(preact|@preact\/signals)(\/|$)/,
  },
  // It works over HTTP: what it knows of the service is generated from the document.
  'the client': { files: /^client\/(?!build\.ts|src\/command\/completion\.ts)/, may: ['what both commands share'] },
  // How a shell completes a command knows commander alone.
  'what both commands share': { files: /^client\/src\/command\/completion\.ts$/, may: [] },
  'what is deployed': {
    files: /^cdk\//,
    may: ['files of the reference page', 'the route table', 'the core', 'settings', 'keys of tables', 'shared words'],
    // The account is asked for its limits before a deployment: nothing that is deployed does so.
    packages: /^(aws-cdk-lib|cdk-nag|constructs|@aws-sdk\/client-lambda)(\/|$)/,
  },
  // The function that registers a data centre is made for CloudFormation through and through.
  'an entry of Lambda': {
    files: /^functions\/(?:[^/]+\/(?:[a-z]+-)?handler|registration\/[^/]+)\.ts$/,
    may: ['the hand of AWS', ...functions, ...lib],
    // The types of its events: there is no code in it.
    packages: /^aws-lambda$/,
  },
  'the Web Function': {
    files: /^functions\/stream\//,
    may: ['the hand of AWS', 'the server', ...functions, ...lib],
  },
  'the hand of one machine': {
    files: /^local\//,
    may: ['the server', ...functions, ...lib],
    packages: /^node:sqlite$/,
  },
  'the server': { files: /^server\//, may: ['the route table', ...lib] },
  'the hand of AWS': {
    files: /^lib\/aws\/(?!tables\.ts)/,
    may: ['keys of tables', ...lib],
    packages: /^(@aws-sdk\/|@aws-lambda-powertools\/|@smithy\/|@middy\/|aws-lambda$)/,
  },
  'keys of tables': { files: /^lib\/aws\/tables\.ts$/, may: [] },
  'a group of operations': {
    files: /^functions\/(?!registration\/|stream\/)([^/]+)\/(?!([a-z]+-)?handler\.ts|reference-assets\.ts|routes\.ts)/,
    may: ['files of the reference page', 'what groups share', 'the route table', ...lib],
  },
  'files of the reference page': { files: /^functions\/documentation\/reference-assets\.ts$/, may: [] },
  'what groups share': { files: /^functions\/(?!routes)[^/]+\.ts$/, may: ['the route table', ...lib] },
  // Routes are made from the records of the kinds: these hold data only.
  'the route table': { files: /^functions\/(?:[a-z]+\/)?routes\.ts$/, may: ['the kinds of objects', 'shared words'] },
  'the composition root': { files: /^lib\/deps\.ts$/, may: lib.slice(1) },
  'the core': { files: /^lib\/http\//, may: ['an area', 'shared words'] },
  'the ports': { files: /^lib\/stores\.ts$/, may: ['an area', 'shared words'] },
  settings: { files: /^lib\/(?:config|settings)\.ts$/, may: ['shared words'] },
  'an area': {
    files:
      /^lib\/(access|categories(?!\/(?:content-kinds|object-kinds|query\/item-shape)\.ts)|fields|history|sites|storage|uploads)\//,
    may: ['the kinds of objects', 'shared words'],
  },
  'the kinds of objects': {
    files: /^lib\/categories\/(?:content-kinds|object-kinds|query\/item-shape)\.ts$/,
    may: ['shared words'],
  },
  // The errors, the ids, the clock, a history entry: what every area speaks of.
  'shared words': { files: /^lib\/(?!deps|stores|config|settings)[^/]+\.ts$/, may: [] },
}

/** What builds, measures and tests the service may import anything, and nobody but each other imports it. */
const outside = /^(bench|fuzz|packaging|test)\/|^(client|console)\/build\.ts$|^[^/]+\.ts$/

const root = join(import.meta.dirname, '..', '..')
const files = globSync(['**/*.{ts,tsx}', '*/main.js'], {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|cdk\.out|dist|\.[^/]+)$/.test(path),
})

/** What a file imports: packages as they are, files by their paths from the root. Types count as well. */
const importsOf = (file: string): string[] => {
  const source = readFileSync(join(root, file), 'utf8')
  const statements = /^(?:import|export)\s(?:[^'"`;=]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm
  return [...source.matchAll(statements)].map(([, fixed, onDemand]) => {
    const name = fixed ?? onDemand ?? ''
    return name.startsWith('.') ? posix.join(posix.dirname(file), name) : name
  })
}

/** The room of a file: its name in the table, and the folder that sets it apart from others of that name. */
const roomOf = (file: string) => {
  const found = Object.entries(rooms).flatMap(([name, { files }]) => {
    const match = files.exec(file)
    return match ? [{ name, place: `${name} ${match[1] ?? ''}` }] : []
  })
  if (found.length > 1) throw new Error(`${file} is in several rooms: ${found.map(({ name }) => name)}`)
  return found[0]
}

const isPackage = (name: string) => !/\.(?:tsx?|json)$|^[a-z]+\/main\.js$/.test(name)

/** The arrows that the table does not have, from files to files or packages. */
const forbidden = (file: string, imports: readonly string[]): string[] => {
  const from = roomOf(file)
  if (!from) return []
  const mayPackage = (name: string) => {
    const owners = Object.entries(rooms).filter(([, { packages }]) => packages?.test(name))
    return owners.length === 0 || owners.some(([owner]) => owner === from.name)
  }
  const mayFile = (name: string) => {
    const to = roomOf(name)
    return to !== undefined && (to.place === from.place || (rooms[from.name]?.may ?? []).includes(to.name))
  }
  return imports
    .filter((name) => !name.endsWith('.json') && !(isPackage(name) ? mayPackage(name) : mayFile(name)))
    .map((name) => `${file} → ${name}`)
}

describe('the rooms of the service', () => {
  test('have arrows that run downwards only', () => {
    const names = Object.keys(rooms)
    const upwards = Object.entries(rooms).flatMap(([name, { may }], index) =>
      may.filter((other) => names.indexOf(other) <= index).map((other) => `${name} → ${other}`),
    )
    expect(upwards).toEqual([])
  })

  test('hold every file, and each has one', () => {
    expect(files.filter((file) => !outside.test(file) && !roomOf(file))).toEqual([])
    const empty = Object.entries(rooms).filter(([, { files: own }]) => !files.some((file) => own.test(file)))
    expect(empty.map(([name]) => name)).toEqual([])
  })

  test('import what the table says, and nothing else', () => {
    expect(files.flatMap((file) => forbidden(file, importsOf(file)))).toEqual([])
  })

  test('are seen in every kind of import, and a wrong one is noticed', () => {
    expect(importsOf('lib/aws/file-stores.ts')).toEqual(
      expect.arrayContaining([
        '@aws-sdk/lib-dynamodb',
        'lib/stores.ts',
        'lib/aws/s3/clients.ts',
        'lib/aws/sqs-removal-queue.ts',
      ]),
    )
    const wrong: readonly (readonly [from: string, to: string])[] = [
      ['lib/fields/field-rules.ts', 'lib/storage/path.ts'],
      ['lib/uploads/uploads.ts', 'lib/storage/put-file.ts'],
      ['lib/errors.ts', 'lib/http/cors.ts'],
      ['lib/storage/path.ts', 'node:sqlite'],
      ['lib/http/handler.ts', '@middy/core'],
      ['lib/http/handler.ts', 'lib/deps.ts'],
      ['lib/aws/web-forms.ts', 'local/database.ts'],
      ['lib/aws/web-forms.ts', 'node:sqlite'],
      ['local/web-forms.ts', 'lib/aws/web-forms.ts'],
      ['local/web-forms.ts', '@aws-sdk/client-s3'],
      ['functions/fields/group.ts', 'lib/aws/web-forms.ts'],
      ['functions/fields/group.ts', 'functions/categories/group.ts'],
      ['server/create-server.ts', 'local/main.js'],
      ['admin/program.ts', '@aws-sdk/client-dynamodb'],
      ['lib/deps.ts', 'test/support/hands.ts'],
      ['client/src/files.ts', 'lib/errors.ts'],
      ['admin/program.ts', 'client/src/index.ts'],
    ]
    expect(wrong.filter(([from, to]) => forbidden(from, [to]).length === 0)).toEqual([])
  })
})

/** An acceptance case is for any server: it knows the service by its contract only. */
test('the acceptance cases import nothing of the service', () => {
  const cases = files.filter((file) => file.startsWith('test/acceptance/') && file.endsWith('.test.ts'))
  const known = cases.flatMap((file) => importsOf(file).map((name) => `${file} → ${name}`))
  expect(known.filter((arrow) => /→ (functions|lib|local|server|admin|cdk|openapi)\//.test(arrow))).toEqual([])
  expect(cases.length).toBeGreaterThan(10)
})
