import { execFile } from 'node:child_process'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Upload } from '@aws-sdk/lib-storage'
import type { SiteId } from '../../../lib/core/ids.ts'
import { emptyFolder } from '../../../lib/storage/continue-removal.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { entry } from '../../../test/support/history.ts'
import { median, type Table, verdict } from '../measure/figures.ts'
import { onTables, openCloudFiles } from '../measure/grounds.ts'
import { bytes } from './content.ts'

const runs = 3
const mebibyte = 1024 * 1024
const large = 256 * mebibyte
const objects = 20_000
const targets = { upload: 0.9, memory: 100, remove: 10 }
const site = 1 as SiteId

const seconds = async (run: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await run()
  return (performance.now() - startedAt) / 1000
}

/** The largest growth of the memory of this process during `run`, in MiB. */
const growth = async (run: () => Promise<unknown>): Promise<number> => {
  const before = process.memoryUsage.rss()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 20)
  await run()
  clearInterval(timer)
  return (most - before) / mebibyte
}

type Opened = Awaited<ReturnType<typeof openCloudFiles>>

const nothingInTheWay = { absent: [], unlocked: { site, folders: [] } }

const uploadOwn = async ({ stores: { files } }: Opened) => {
  const staged = await files.stage(bytes(large), { key: 'live/1/large', contentType: 'a/b' })
  const { outcome } = await files.place([{ kind: 'put', key: 'live/1/large', staged }], nothingInTheWay, entry)
  if (outcome !== 'placed') throw new Error(`The upload is ${outcome}`)
}

const uploadByLibrary = ({ client, bucket }: Opened) =>
  new Upload({
    client,
    params: { Bucket: bucket, Key: 'library', Body: Readable.from(bytes(large), { objectMode: false }) },
    partSize: 8 * mebibyte,
    queueSize: 4,
  }).done()

const fill = async ({ stores: { files } }: Opened, folder: string) => {
  for (let at = 0; at < objects; at += 1000) {
    const changes = Array.from({ length: 1000 }, (_, index) => ({
      kind: 'folder' as const,
      key: `live/1/${folder}/${at + index}/`,
    }))
    await files.place(changes, nothingInTheWay, entry)
  }
}

const measure = async (opened: Opened): Promise<readonly Table[]> => {
  const [own, library]: [number[], number[]] = [[], []]
  await uploadOwn(opened)
  const memory = await growth(() => uploadOwn(opened))
  for (let run = 0; run < runs; run++) {
    own.push(await seconds(() => uploadOwn(opened)))
    library.push(await seconds(() => uploadByLibrary(opened)))
  }
  const ratio = median(library) / median(own)

  await fill(opened, 'own')
  await fill(opened, 'cli')
  let flat = 0
  const removed = await seconds(async () => {
    flat = await growth(() => emptyFolder(opened.stores.files, site, parsePath('own'), () => false))
  })
  const cli = await seconds(() =>
    promisify(execFile)('aws', ['s3', 'rm', '--recursive', '--quiet', `s3://${opened.bucket}/live/1/cli/`]),
  ).catch(() => undefined)
  const faster = cli === undefined ? undefined : cli / removed
  return [
    {
      title: `S3 at ${process.env['AWS_ENDPOINT_URL']}`,
      columns: ['figure', 'service', 'measure', 'ratio', 'target', 'verdict'],
      rows: [
        [
          '256 MiB, s',
          median(own).toFixed(1),
          `lib-storage ${median(library).toFixed(1)}`,
          ratio.toFixed(2),
          `>= ${targets.upload}`,
          verdict(ratio >= targets.upload),
        ],
        [
          'its peak memory growth, MiB',
          memory.toFixed(0),
          '',
          '',
          `<= ${targets.memory}`,
          verdict(memory <= targets.memory),
        ],
        [
          `delete ${objects} objects, s`,
          removed.toFixed(1),
          cli === undefined ? 'no aws s3 rm here' : `aws s3 rm ${cli.toFixed(1)}`,
          faster?.toFixed(1) ?? '',
          `>= ${targets.remove}`,
          faster === undefined ? 'not measured' : verdict(faster >= targets.remove),
        ],
        ['its memory growth, MiB', flat.toFixed(0), '', '', '', ''],
      ],
    },
  ]
}

/** Compares the S3 store with the upload of the SDK and the AWS command line, at `AWS_ENDPOINT_URL`. */
export const measureS3 = async (): Promise<readonly Table[]> => {
  if (process.env['AWS_ENDPOINT_URL']) return onTables(async (dynamodb) => measure(await openCloudFiles(dynamodb)))
  console.warn('NO AWS_ENDPOINT_URL: the figures of S3 are SKIPPED.\n')
  return []
}
