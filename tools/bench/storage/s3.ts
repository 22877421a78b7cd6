import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { SiteId } from '../../../lib/core/ids.ts'
import { emptyFolder } from '../../../lib/storage/continue-removal.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { entry } from '../../../test/support/history.ts'
import { bytes } from '../measure/content.ts'
import { atLeast, atMost, inTurns, mebibyte, seconds, type Table } from '../measure/figures.ts'
import { type CloudFiles, onTables, openCloudFiles, uploadByLibrary } from '../measure/grounds.ts'

const runs = 3
const large = 256 * mebibyte
const objects = 20_000
const targets = { upload: 0.9, memory: 100, remove: 10 }
const site = 1 as SiteId

/** In MiB: by how much `run` raises the peak of this process's memory. */
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

const nothingInTheWay = { absent: [], unlocked: { site, folders: [] } }

const uploadOwn = async ({ stores: { files } }: CloudFiles) => {
  const staged = await files.stage(bytes(large), { key: 'live/1/large', contentType: 'a/b' })
  const result = await files.place([{ kind: 'put', key: 'live/1/large', staged }], nothingInTheWay, entry)
  if (result.outcome !== 'placed') throw new Error(`The upload is ${result.outcome}`)
  await result.recorded
}

const fill = async ({ stores: { files } }: CloudFiles, folder: string) => {
  for (let at = 0; at < objects; at += 1000) {
    const changes = Array.from({ length: 1000 }, (_, index) => ({
      kind: 'folder' as const,
      key: `live/1/${folder}/${at + index}/`,
    }))
    await files.place(changes, nothingInTheWay, entry)
  }
}

const measure = async (opened: CloudFiles): Promise<readonly Table[]> => {
  await uploadOwn(opened)
  const memory = await growth(() => uploadOwn(opened))
  const { own, library } = await inTurns(runs, {
    own: () => seconds(() => uploadOwn(opened)),
    library: () => seconds(() => uploadByLibrary(opened, large)),
  })
  const ratio = library / own

  await fill(opened, 'own')
  await fill(opened, 'cli')
  let flat = 0
  const removed = await seconds(async () => {
    flat = await growth(() => emptyFolder(opened.stores.files, site, parsePath('own'), () => false))
  })
  const cli = await seconds(() =>
    promisify(execFile)('aws', ['s3', 'rm', '--recursive', '--quiet', `s3://${opened.bucket}/live/1/cli/`]),
  ).catch(() => undefined)
  const ofCommand =
    cli === undefined
      ? ['no aws s3 rm here', '', `>= ${targets.remove}`, 'not measured']
      : [`aws s3 rm ${cli.toFixed(1)}`, (cli / removed).toFixed(1), ...atLeast(cli / removed, targets.remove)]
  return [
    {
      title: `S3 at ${process.env['AWS_ENDPOINT_URL']}`,
      columns: ['figure', 'service', 'measure', 'ratio', 'target', 'verdict'],
      rows: [
        [
          '256 MiB, s',
          own.toFixed(1),
          `lib-storage ${library.toFixed(1)}`,
          ratio.toFixed(2),
          ...atLeast(ratio, targets.upload),
        ],
        ['its peak memory growth, MiB', memory.toFixed(0), '', '', ...atMost(memory, targets.memory)],
        [`delete ${objects} objects, s`, removed.toFixed(1), ...ofCommand],
        ['its memory growth, MiB', flat.toFixed(0), '', '', '', ''],
      ],
    },
  ]
}

/** Compares the S3 store with the upload of the SDK and the AWS command line, at `AWS_ENDPOINT_URL`. */
export const measureS3 = (): Promise<readonly Table[]> =>
  onTables(async (dynamodb) => measure(await openCloudFiles(dynamodb)))
