import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { parseId, type SiteId } from '../../../lib/core/ids.ts'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { keptContents } from '../../support/kept-contents.ts'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

const uploads = 50
/** The size in bytes of each file of an upload. Small content is stored differently from large content. */
const sizes = [300_000, 8_000, 300_000, 8_000]
const piece = 64 * 1024

const contentOf = (upload: number, size: number) =>
  String(upload)
    .padEnd(8)
    .repeat(size / 8)

/** The files of one upload. Each repeats the number of the upload. */
const bodyOf = (upload: number) =>
  multipart(sizes.map((size, file) => ({ name: `f${file}`, content: contentOf(upload, size) })))

describe('kill -9 during uploads', () => {
  test.for([3, 11, 19, 26, 33, 40, 47])(
    'a kill during upload %i leaves each upload whole or absent (S-32)',
    async (last, { start, directory }) => {
      const first = await start()
      const acknowledged = new Set<number>()
      // The process is killed at a random place of the body, and at random places of concurrent uploads.
      const end = 0.3 + Math.random() * 0.65

      /**
       * The body in pieces. While the last upload is sent, the server is killed after it has stored some of the bytes.
       */
      async function* piecesOf(number: number): AsyncGenerator<Buffer> {
        const body = bodyOf(number)
        for (let at = 0; at < body.length; at += piece) {
          if (number === last && at / body.length > end) {
            while (keptContents(layoutOf(directory)).leftovers.length === 0) await turn()
            first.kill('SIGKILL')
            await first.ended
          }
          yield body.subarray(at, at + piece)
        }
      }
      const upload = async (number: number) => {
        const { status } = await first.request(`${storage}/upload-${number}`, {
          method: 'POST',
          headers: formHeaders,
          body: ReadableStream.from(piecesOf(number)),
          duplex: 'half',
        })
        expect(status).toBe(200)
        acknowledged.add(number)
      }
      const numbers = Array.from({ length: uploads }, (_, number) => number)
      const failed = new Set<number>()
      await inParallel(numbers, 4, (number) => upload(number).catch(() => void failed.add(number)))
      expect(failed).toContain(last)

      const second = await start()
      for (const number of numbers) {
        const files = await Promise.all(
          sizes.map(async (_, file) => {
            const answer = await second.request(`${storage}/upload-${number}/f${file}`)
            return answer.status === 200 ? await answer.text() : undefined
          }),
        )
        const isThere = files.every((content, file) => content === contentOf(number, sizes[file] ?? 0))
        const isAbsent = files.every((content) => content === undefined)
        expect({ number, isWhole: isThere || isAbsent }).toEqual({ number, isWhole: true })
        if (acknowledged.has(number)) expect(isThere).toBe(true)
      }
      await second.stop()
      expect(keptContents(layoutOf(directory)).leftovers).toEqual([])
    },
  )
})

describe('a removal whose service was killed', () => {
  test('the next start completes the removal', async ({ start, directory }) => {
    const first = await start()
    await first.request(`${storage}/large/a`, { method: 'PUT', body: 'x' })
    const { siteId } = first
    first.kill('SIGKILL')
    await first.ended

    // The state that a server leaves when it dies in the middle of a large removal: a record and a message.
    const site = parseId<SiteId>(String(siteId))
    if (site === undefined) throw new Error('The service has no site')
    const path = parsePath('large')
    const entry = { site, type: 'folder.removed', subject: path, actor: 'demo' } as const
    const { stores, close } = await openMachine(directory)
    await stores.removals.open(site, path, 'left-over', entry)
    await stores.removalQueue.send({ site, path, id: 'left-over' }, 60)
    await close()

    const second = await start()
    await expect.poll(async () => (await second.request(`${storage}/large/a`)).status).toBe(404)
    await expect
      .poll(async () => (await second.request(`${storage}/large/b`, { method: 'PUT', body: 'x' })).status)
      .toBe(200)
  })
})
