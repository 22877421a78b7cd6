import { expect, test } from 'vitest'
import type { Files } from '../../../client/src/index.ts'
import { pictureType } from '../../../console/files/picture-type.ts'
import { createPreview } from '../../../console/files/preview.ts'
import { asText } from '../../../console/files/preview-content.ts'
import { messageOf } from '../../../console/parts/failure.tsx'
import { texts } from '../../../console/texts/texts.ts'
import { entry, siteOf } from '../support/site.ts'

/** A preview of the files of a site. */
const previewOf = (files: Partial<Files>) => createPreview({ client: () => siteOf(files) })

test('bytes count as text if they are UTF-8, except for a cut last character', () => {
  const bytes = new TextEncoder().encode('Größe €')
  expect(asText(bytes, false)).toBe('Größe €')
  expect(asText(bytes.slice(0, -1), true)).toBe('Größe ')
  expect(asText(bytes.slice(0, -1), false)).toBeUndefined()
  expect(asText(Uint8Array.of(65, 0, 66), false)).toBeUndefined()
})

test('a picture is recognised by its extension, in any case', () => {
  expect(pictureType('photo.JPG')).toBe('image/jpeg')
  expect(pictureType('photo.jpg.html')).toBeUndefined()
  expect(pictureType('png')).toBe('image/png')
  expect(['constructor', 'a.__proto__'].map(pictureType)).toEqual([undefined, undefined])
})

test('only the beginning of a large text is requested', async () => {
  const asked: unknown[] = []
  const preview = previewOf({
    stat: async () => entry('log.txt', { size: 5_000_000_000 }),
    read: async (_, options) => {
      asked.push(options?.range)
      return new Response('a'.repeat(65_536))
    },
  })
  await preview.open('log.txt')
  expect(asked).toEqual([{ first: 0, last: 65_535 }])
  expect(preview.content.value).toMatchObject({ kind: 'text', isCut: true })
})

test('an unchanged file is not read again when another file changes', async () => {
  let etag = '"1"'
  let reads = 0
  const preview = previewOf({
    stat: async (path) => entry(path, { etag }),
    read: async () => {
      reads++
      return new Response('abc')
    },
  })
  await preview.open('a.txt')
  await preview.refresh()
  expect(reads).toBe(1)
  etag = '"2"'
  await preview.refresh()
  expect(reads).toBe(2)
  await preview.open('a.txt')
  expect(reads).toBe(3)
})

test('a file that is closed while it is read again is not read once more', async () => {
  const asked: string[] = []
  const preview = previewOf({
    async stat(path) {
      asked.push(path)
      return entry(path)
    },
    read: async () => new Response('abc'),
  })
  await preview.open('a.txt')
  const [reading, later] = [preview.refresh(), preview.refreshLater()]
  preview.close()
  await Promise.all([reading, later])
  expect([asked, preview.entry.value]).toEqual([['a.txt', 'a.txt'], undefined])
})

test('the URL of a picture is revoked when another file is opened', async () => {
  const client = siteOf({ stat: async (path) => entry(path), read: async () => new Response('abc') })
  const open = new Set<string>()
  const urls = {
    createObjectURL: () => {
      open.add('blob:1')
      return 'blob:1'
    },
    revokeObjectURL: (url: string) => void open.delete(url),
  }
  const preview = createPreview({ client: () => client, urls })
  await preview.open('a.png')
  expect([preview.content.value, [...open]]).toEqual([{ kind: 'picture', url: 'blob:1' }, ['blob:1']])
  await preview.open('a.txt')
  expect([...open]).toEqual([])
})

test('a preview whose bytes break off says that the service did not answer (K-19)', async () => {
  const broken = () =>
    new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError('gone')) }))
  const preview = previewOf({ stat: async (path) => entry(path), read: async () => broken() })
  await preview.open('a.txt')
  expect(messageOf(preview.failure.value)).toBe(texts.value.unreachable)
})

test('a missing file is reported, without the content of another file', async () => {
  const preview = previewOf({
    stat: async (path) => {
      if (path === 'gone') throw new Error('gone')
      return entry(path)
    },
    read: async () => new Response('a'),
  })
  await preview.open('there')
  await preview.open('gone')
  expect(preview.failure.value).toEqual(new Error('gone'))
  expect(preview.entry.value).toBeUndefined()
  expect(preview.content.value).toBeUndefined()
})

test('an old answer does not replace newer versions of a file (K-11)', async () => {
  const [old, newer] = ['1', '2'].map((id) => ({ id, at: '', size: 1, state: 'current' }))
  const first = Promise.withResolvers<void>()
  let reads = 0
  const preview = previewOf({
    stat: async (path) => entry(path),
    read: async () => new Response('abc'),
    versions: async function* () {
      const isFirst = ++reads === 1
      if (isFirst) await first.promise
      yield (isFirst ? old : newer) as never
    },
  })
  await preview.open('a.txt')
  const slow = preview.readVersions()
  await preview.readVersions()
  first.resolve()
  await slow
  expect(preview.versions.value).toEqual([newer])
})

test('a live page is not shown as the draft that cannot be read (K-11)', async () => {
  const preview = previewOf({
    stat: async (path) => ({ ...entry(path), draft: { size: 1, lastModified: '' } }),
    read: async (_, options) => {
      if (options?.draft) throw new Error('The service did not answer')
      return new Response('live')
    },
  })
  await preview.open('a.html')
  expect(preview.content.value).toBeDefined()
  await preview.showDraft(true)
  expect(preview.content.value).toBeUndefined()
  await preview.showDraft(false)
  expect(preview.content.value).toMatchObject({ text: 'live' })
})
