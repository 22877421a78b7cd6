import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { connect } from '../../client/src/connect.ts'
import { nodeFetch, openFile } from '../../client/src/node.ts'
import { type SpawnedService, startService } from '../../test/support/spawned-service.ts'
import { type Bench, inTurns, mebibyte, median, seconds, type Table, verdict } from './measure/figures.ts'
import { inScratchFolder } from './measure/grounds.ts'

const execute = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const runs = 3
const small = { files: 2000, bytes: 8 * 1024 }
const unchanged = { files: 20_000, seconds: 3 }
const large = 100 * mebibyte
const targets = { sync: 0.8, put: 0.9 }

/** Creates files of random bytes, 100 in each folder. */
const makeTree = async (directory: string, count: number, size: number): Promise<void> => {
  for (let index = 0; index < count; index++) {
    const folder = join(directory, `folder ${Math.floor(index / 100)}`)
    if (index % 100 === 0) await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `file ${index}.bin`), randomBytes(size))
  }
}

/** Runs the installed command, with the Node of the project. */
const siteFiles = ({ baseUrl, token }: SpawnedService, ...args: readonly string[]) =>
  execute(process.execPath, [join(root, 'client', 'dist', 'site-files.cjs'), '--json', ...args], {
    env: { ...process.env, SITE_ADMIN_URL: baseUrl, SITE_ADMIN_TOKEN: token },
    maxBuffer: 64 * mebibyte,
  })

const endpoint = process.env['AWS_ENDPOINT_URL']
const hasCommand = (name: string): boolean => spawnSync(name, ['--version']).status === 0

const rate = (time: number): string => `${Math.round(small.files / time)} files/s`

/** Uploads many small files into a new folder each time, alternating with the AWS command line and an emulator. */
const pushMany = async (service: SpawnedService, scratch: string): Promise<Table> => {
  const tree = join(scratch, 'small')
  await makeTree(tree, small.files, small.bytes)
  const isCompared = endpoint !== undefined && hasCommand('aws')
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let run = 0; run < runs; run++) {
    await rm(join(tree, '.site-files'), { recursive: true, force: true })
    ours.push(await seconds(() => siteFiles(service, 'push', tree, `small-${run}`)))
    if (!isCompared) continue
    const bucket = `bench-push-${process.pid}-${run}`
    await new S3Client({ forcePathStyle: true }).send(new CreateBucketCommand({ Bucket: bucket }))
    theirs.push(await seconds(() => execute('aws', ['s3', 'sync', '--quiet', tree, `s3://${bucket}`])))
  }
  const [own, other] = [median(ours), median(theirs)]
  const ratio = other / own
  return {
    title: `${small.files} files of ${small.bytes / 1024} KiB (median of ${runs})`,
    columns: ['with', 's', 'files/s', 'target'],
    rows: [
      [
        'site-files push, to one machine',
        own.toFixed(2),
        rate(own),
        isCompared ? `${ratio.toFixed(2)} ≥ ${targets.sync} x: ${verdict(ratio >= targets.sync)}` : '',
      ],
      isCompared
        ? [`aws s3 sync, to the emulator at ${new URL(endpoint).host}`, other.toFixed(2), rate(other), '']
        : ['aws s3 sync: left out, because it needs the command aws and an emulator at AWS_ENDPOINT_URL', '', '', ''],
    ],
  }
}

/**
 * Measures how long site-files plans for files that are the same on both sides: with a remembered state, and in a new
 * copy, where it reads all files.
 */
const planMany = async (service: SpawnedService, scratch: string): Promise<Table> => {
  const tree = join(scratch, 'unchanged')
  await makeTree(tree, unchanged.files, 100)
  await siteFiles(service, 'push', tree, 'unchanged')
  // Files that changed just before the first run are read once more, so this run does not count.
  await siteFiles(service, 'push', tree, 'unchanged')
  const times: number[] = []
  for (let run = 0; run < runs; run++) times.push(await seconds(() => siteFiles(service, 'diff', tree, 'unchanged')))
  await rm(join(tree, '.site-files'), { recursive: true })
  const anew = await seconds(() => siteFiles(service, 'diff', tree, 'unchanged'))
  const own = median(times)
  return {
    title: `The plan for ${unchanged.files} unchanged files`,
    columns: ['site-files diff', 's', 'target'],
    rows: [
      [
        `with remembered files (median of ${runs})`,
        own.toFixed(2),
        `≤ ${unchanged.seconds}: ${verdict(own <= unchanged.seconds)}`,
      ],
      ['with all files read', anew.toFixed(2), ''],
    ],
  }
}

/** Sends a file with curl. */
const curl = (
  { token }: SpawnedService,
  method: 'PUT' | 'PATCH',
  file: string,
  url: string,
  headers: readonly string[] = [],
) => {
  const lines = [`Authorization: ${token}`, ...headers].flatMap((header) => ['-H', header])
  return execute('curl', ['--fail', '--silent', '--show-error', '-X', method, ...lines, '-T', file, url])
}

/** Starts a resumable upload, and returns its address. */
const begin = async ({ token }: SpawnedService, folder: string, name: string): Promise<string> => {
  const metadata = `filename ${Buffer.from(name).toString('base64')}`
  const headers = {
    Authorization: token,
    'Tus-Resumable': '1.0.0',
    'Upload-Length': String(large),
    'Upload-Metadata': metadata,
  }
  const { headers: answered } = await fetch(folder, { method: 'POST', headers })
  return answered.get('Location') ?? ''
}

/**
 * Waits for the fingerprint of a file, which the service computes after its answer. After that, the service is idle.
 */
const settled = async ({ token }: SpawnedService, url: string): Promise<void> => {
  for (let fingerprint: unknown = null; fingerprint === null; ) {
    const answer = await fetch(`${url}?meta`, { headers: { Authorization: token } })
    fingerprint = JSON.parse(await answer.text()).fingerprint
  }
}

/**
 * Measures uploads of one large file in turns: with site-files, with the library, and with curl as one PUT and as one
 * resumable upload. A resumable upload costs the service more than a PUT.
 */
const pushLarge = async (service: SpawnedService, scratch: string): Promise<Table> => {
  const folder = join(scratch, 'large')
  const file = join(folder, 'large.bin')
  await mkdir(folder)
  await writeFile(file, randomBytes(large))
  const url = `${service.baseUrl}/api/v2/admin/sites/${service.siteId}/storage`
  const append = ['Tus-Resumable: 1.0.0', 'Upload-Offset: 0', 'Content-Type: application/offset+octet-stream']
  const { files } = await connect({ url: service.baseUrl, token: service.token, fetch: nodeFetch })
  const storing = async (name: string, store: () => Promise<unknown>): Promise<number> => {
    const time = await seconds(store)
    await settled(service, `${url}/${name}.bin`)
    return time
  }
  const times = await inTurns(runs, {
    own: (turn) => storing(`large-${turn}`, () => siteFiles(service, 'put', file, `large-${turn}.bin`)),
    async library(turn) {
      const source = await openFile(file)
      const time = await storing(`library-${turn}`, () => files.put(`library-${turn}.bin`, source))
      await source.close()
      return time
    },
    put: (turn) => storing(`put-${turn}`, () => curl(service, 'PUT', file, `${url}/put-${turn}.bin`)),
    async resumable(turn) {
      const address = await begin(service, url, `append-${turn}.bin`)
      return storing(`append-${turn}`, () => curl(service, 'PATCH', file, address, append))
    },
  })
  const row = (name: string, time: number) => [name, time.toFixed(2), `${Math.round(large / mebibyte / time)} MiB/s`]
  const against = (time: number) => {
    const ratio = times.put / time
    return `${ratio.toFixed(2)} ≥ ${targets.put} x PUT: ${verdict(ratio >= targets.put)}`
  }
  return {
    title: `One file of ${large / mebibyte} MiB (median of ${runs})`,
    columns: ['with', 's', 'MiB/s', 'target'],
    rows: [
      [...row('site-files put', times.own), against(times.own)],
      [...row('the library, in a running process', times.library), against(times.library)],
      [...row('curl, in one PUT', times.put), ''],
      [...row('curl, in one PATCH of a resumable upload', times.resumable), ''],
    ],
  }
}

/** Measures site-files with one machine and the defaults of `npm start`: every change is flushed before its answer. */
export const push: Bench = () =>
  inScratchFolder(async (scratch) => {
    await execute(process.execPath, [join(root, 'tools', 'packaging', 'build-client.ts')])
    const service = await startService(join(scratch, 'data'), ['--port', '0', '--quiet'])
    try {
      return [await pushMany(service, scratch), await pushLarge(service, scratch), await planMany(service, scratch)]
    } finally {
      await service.stop()
    }
  })
