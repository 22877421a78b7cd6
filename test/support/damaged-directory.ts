import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What can happen to a data directory between two starts. */
export interface Damage {
  readonly name: string
  /** Whether the service had been killed, rather than stopped. */
  readonly killed?: boolean
  inflict(directory: string): void
  /** What the start says; nothing when it starts all the same. */
  readonly refusal?: RegExp
  /** What the start says beside starting. */
  readonly warning?: RegExp
  /** What `site-admin check` names: faults by where they are. */
  readonly faults: readonly { readonly where: RegExp; readonly fault: RegExp }[]
}

const database = 'site-admin.db'

const flipBytes = (file: string, at: number, length: number) => {
  const bytes = readFileSync(file)
  for (let index = at; index < at + length; index += 1) bytes[index] = (bytes[index] ?? 0) ^ 0xff
  writeFileSync(file, bytes)
}

/** The file of the largest blob. */
const blobOf = (directory: string): string => {
  const folder = join(directory, 'blobs')
  const [first] = readdirSync(folder)
  if (first === undefined) throw new Error('There is no blob')
  return join(folder, first)
}

const isDamaged =
  /^The database .+site-admin\.db is damaged: .+ Restore the directory from a backup, .+ Nothing was changed\.\n$/
const itIsDamaged = [{ where: /site-admin\.db$/, fault: /^it is damaged: / }]

/** Every row: what was done, and what is said of it. */
export const damages: readonly Damage[] = [
  {
    name: 'the database is missing',
    inflict: (directory) => rmSync(join(directory, database)),
    refusal: /^The database .+site-admin\.db is missing, but .+ was in use before\. .+ Nothing was changed\.\n$/,
    faults: [{ where: /site-admin\.db$/, fault: /^it is missing/ }],
  },
  {
    name: 'the database is empty',
    inflict: (directory) => truncateSync(join(directory, database), 0),
    refusal: /^The database .+site-admin\.db is empty, but .+ was in use before\. .+ Nothing was changed\.\n$/,
    faults: [{ where: /site-admin\.db$/, fault: /^it is empty/ }],
  },
  {
    name: 'the database is cut',
    inflict: (directory) => truncateSync(join(directory, database), statSync(join(directory, database)).size - 8192),
    refusal: isDamaged,
    faults: itIsDamaged,
  },
  {
    name: 'the database is cut in the middle of a page',
    inflict: (directory) => truncateSync(join(directory, database), 10_000),
    refusal: isDamaged,
    faults: itIsDamaged,
  },
  {
    name: 'the header of the database is other bytes',
    inflict: (directory) => flipBytes(join(directory, database), 0, 100),
    refusal: isDamaged,
    faults: itIsDamaged,
  },
  {
    name: 'bytes in the middle of the database are flipped',
    inflict: (directory) => flipBytes(join(directory, database), 4096, 12_288),
    refusal: isDamaged,
    faults: itIsDamaged,
  },
  {
    name: 'the database is something else',
    inflict: (directory) => writeFileSync(join(directory, database), randomBytes(50_000)),
    refusal: isDamaged,
    faults: itIsDamaged,
  },
  {
    name: 'the WAL is missing after a crash',
    killed: true,
    inflict: (directory) => rmSync(join(directory, `${database}-wal`)),
    refusal:
      /^The file .+site-admin\.db-wal is missing, but the service did not stop cleanly .+ Nothing was changed\.\n$/,
    faults: [{ where: /-wal$/, fault: /^it is missing/ }],
  },
  {
    name: 'nothing is missing after a crash',
    killed: true,
    inflict: () => {},
    faults: [],
  },
  {
    name: 'a blob is missing',
    inflict: (directory) => rmSync(blobOf(directory)),
    warning: /^1 file is damaged and cannot be read\. Run "site-admin check" to see the damage\.\n$/,
    faults: [{ where: /^site 1001, file large\.bin$/, fault: /^its bytes are missing: .+blobs/ }],
  },
  {
    name: 'a blob is short',
    inflict: (directory) => truncateSync(blobOf(directory), 17_000),
    warning: /^1 file is damaged and cannot be read\. Run "site-admin check" to see the damage\.\n$/,
    faults: [
      {
        where: /^site 1001, file large\.bin$/,
        fault: /^it has 17000 bytes instead of 40000: .+blobs/,
      },
    ],
  },
  {
    name: 'the marker is missing',
    inflict: (directory) => rmSync(join(directory, 'site-admin.json')),
    refusal: /^The data directory .+ lacks its .+site-admin\.json\. .+ Nothing was changed\.\n$/,
    faults: [{ where: /site-admin\.json$/, fault: /lacks its/ }],
  },
  {
    name: 'the marker cannot be read',
    inflict: (directory) => writeFileSync(join(directory, 'site-admin.json'), '{"layout":'),
    refusal: /^The file .+site-admin\.json cannot be read: .+ Nothing was changed\.\n$/,
    faults: [{ where: /site-admin\.json$/, fault: /cannot be read/ }],
  },
  {
    name: 'the demo cannot be read',
    inflict: (directory) => writeFileSync(join(directory, 'demo.json'), '{"token":"'),
    refusal: /^The file .+demo\.json cannot be read: .+ Nothing was changed\.\n$/,
    faults: [{ where: /demo\.json$/, fault: /^it cannot be read: / }],
  },
  {
    name: 'the demo holds no token',
    inflict: (directory) =>
      writeFileSync(join(directory, 'demo.json'), '{"siteId":1001,"webFormId":1,"categoryIds":[]}'),
    refusal: /^The file .+demo\.json cannot be read: it lacks "token"\. .+ Nothing was changed\.\n$/,
    faults: [{ where: /demo\.json$/, fault: /^it cannot be read: it lacks "token"/ }],
  },
]
