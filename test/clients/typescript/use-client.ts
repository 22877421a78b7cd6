import assert from 'node:assert/strict'
import { client } from './client/client.gen.ts'
import * as api from './client/index.ts'

/**
 * Uses the client that @hey-api/openapi-ts generated from the document of a running service. Arguments: the address of
 * the service, and a token of its demo site. Type-checking is half of the proof: the members that are read below have
 * the types of the document.
 */
const [baseUrl = '', token = ''] = process.argv.slice(2)
client.setConfig({ baseUrl, auth: ({ scheme }) => (scheme === 'bearer' ? undefined : token), throwOnError: true })

const site = 'current'
const content = Uint8Array.from({ length: 1024 }, (_, index) => index)
const file = { site, path: 'typescript/a.bin' } as const

const bytesOf = async (answer: unknown): Promise<Uint8Array> => {
  assert(answer instanceof Blob)
  return new Uint8Array(await answer.arrayBuffer())
}

// A filtered list, and an unlink whose items are only in the query.
const { data: news } = await api.listNewsOfCategory({
  path: { site, category: 2 },
  query: { where: '{"objectId":{"$gt":20}}', fields: 'objectId', limit: 2 },
  throwOnError: true,
})
const ids: (number | undefined)[] = news.items.map(({ objectId }) => objectId)
assert.equal(ids.length, 2)
await api.unlinkNews({ path: { site, category: 2 }, query: { items: JSON.stringify(ids) }, throwOnError: true })
await api.linkNews({ path: { site, category: 2 }, body: { items: [{ objectId: 1 }] }, throwOnError: true })

// Uploads bytes in both ways, downloads them, and reads their description.
const form = { file: [new File([content], 'a.bin')] }
const { data: stored } = await api.uploadToFolder({
  path: { site, path: 'typescript' },
  body: form,
  throwOnError: true,
})
// The 201 that starts a resumable upload has no body, and the generator has no type for this case. So the answer is
// read through the underlying client.
assert.deepEqual(stored, { status: 'success' })
// For a body of several types, the generator knows only JSON. So bytes are sent through the underlying client.
await client.put({
  url: '/api/v2/admin/sites/{site}/storage/{path}',
  path: { site, path: 'typescript/raw.bin' },
  security: [{ name: 'Authorization', type: 'apiKey' }],
  body: new Blob([content]),
  bodySerializer: null,
  headers: { 'Content-Type': 'application/octet-stream' },
})
for (const path of ['typescript/a.bin', 'typescript/raw.bin']) {
  const { data } = await api.readPath({ path: { site, path }, throwOnError: true })
  assert.deepEqual(await bytesOf(data), content)
}
const { data: entry } = await api.readPath({
  path: { site, path: 'typescript' },
  query: { meta: '' },
  throwOnError: true,
})
assert(!(entry instanceof Blob) && 'contents' in entry)
assert.deepEqual(
  entry.contents?.map(({ name }) => name),
  ['a.bin', 'raw.bin'],
)
const { data: link } = await api.readPath({ path: file, query: { link: '' }, throwOnError: true })
assert(!(link instanceof Blob) && 'url' in link)
assert.deepEqual(await bytesOf(await (await fetch(link.url)).blob()), content)
await api.putPath({ path: file, query: { meta: '' }, body: { name: 'b.bin' }, throwOnError: true })

// An error has one of the codes of the document.
const { error, response } = await api.readPath({ path: file, throwOnError: false })
const code: api.Error['code'] | undefined = error?.code
assert.deepEqual([response?.status, code], [404, 104001])
await api.deletePath({ path: { site, path: 'typescript' }, throwOnError: true })
console.log('The TypeScript client uploads, downloads, filters and links.')
