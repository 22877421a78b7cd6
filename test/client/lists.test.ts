import { expect, test } from 'vitest'
import { connect, type SiteClient } from '../../client/src/index.ts'
import { messages } from '../support/messages.ts'
import { address, json, scripted, scriptedFetch } from './support/scripted-fetch.ts'

test('a list requests each page when it is needed, and skips empty pages (T-31)', async () => {
  const page = (ids: readonly string[], next: string | null) => () => json({ items: ids.map((id) => ({ id })), next })
  const { client, asked } = await scripted([page(['1', '2'], '2'), page([], '7'), page(['8'], null)])
  const seen: string[] = []
  for await (const { id } of client.changes.list({ after: '0' })) seen.push(`${id} of ${asked.length}`)
  expect(seen).toStrictEqual(['1 of 1', '2 of 1', '8 of 3'])
  expect(asked.map(({ url }) => new URL(url).searchParams.get('after'))).toStrictEqual(['0', '2', '7'])
})

test.for<readonly [string, (page: number) => number]>([
  ['the same page every time', () => 1],
  ['two alternating pages', (page) => page % 2],
  ['a long series of pages that then repeats', (page) => (page < 50 ? page : 50 + (page % 30))],
])('a list ends with an error if its cursors lead to %s', async ([, after]) => {
  const links = [{ rel: 'storage', uri: `${address}/api/v2/admin/sites/1/storage/a` }]
  const folder = (next: string) => ({ name: 'a', type: 'folder', links, contents: [], cursor: next })
  const lists: readonly (readonly [(next: string) => object, (client: SiteClient) => AsyncIterable<unknown>])[] = [
    [folder, ({ files }) => files.list('a')],
    [folder, ({ files }) => files.listAll('a')],
    [(cursor) => ({ versions: [], cursor }), ({ files }) => files.versions('a')],
    [(cursor) => ({ deleted: [], cursor }), ({ files }) => files.deleted('a')],
    [(nextCursor) => ({ deleted: [], nextCursor }), ({ files }) => files.trash('a')],
    [(nextCursor) => ({ items: [], nextCursor }), ({ files }) => files.search('a', 'b')],
    [(next) => ({ items: [], next }), ({ changes }) => changes.list({ after: '0' })],
    [(nextCursor) => ({ items: [], nextCursor }), ({ categories }) => categories.list()],
  ]
  for (const [answer, list] of lists) {
    const { client } = await scripted(Array.from({ length: 300 }, (_, page) => () => json(answer(String(after(page))))))
    const end = async () => {
      for await (const _ of list(client));
    }
    const message = expect.stringContaining('has no end')
    await expect(end()).rejects.toMatchObject({ name: 'ServiceError', message })
  }
})

test('an answer that is not a file, folder or list is refused', async () => {
  const link = { rel: 'storage', uri: `${address}/api/v2/admin/sites/1/storage/a` }
  const contents = [5, 'a', [null], [{}], ['a'], [{ name: 'a' }], [{ name: 5, links: [] }], [{ path: 5, links: [] }]]
  const entries = contents.map((each) => ({ name: '', type: 'folder', links: [link], contents: each }))
  const wrong = { name: 'a', type: 'file', links: 5 }
  const astray = { ...wrong, links: [{ rel: 'storage', uri: 'nowhere' }] }
  const calls: readonly ((client: SiteClient) => Promise<unknown>)[] = [
    ({ files }) => files.list('a')[Symbol.asyncIterator]().next(),
    ({ files }) => files.listAll('a')[Symbol.asyncIterator]().next(),
  ]
  for (const call of calls) {
    for (const entry of [...entries, wrong, { ...wrong, links: [null] }, astray, { type: 'folder' }]) {
      await expect(call((await scripted([() => json(entry)])).client)).rejects.toThrow(messages.client.proxy)
    }
  }
  for (const found of [5, [null], [{}]]) {
    const answer = () => json({ items: found, deleted: found, versions: found })
    const { files } = (await scripted([answer, answer, answer])).client
    for (const list of [files.search('a', 'b'), files.trash(), files.versions('a')])
      await expect(list[Symbol.asyncIterator]().next()).rejects.toThrow(messages.client.proxy)
  }
  for (const items of [5, [null]]) {
    const { fetch } = scriptedFetch(() => json({ items }))
    await expect(connect({ url: address, token: 'secret', fetch })).rejects.toThrow(messages.client.proxy)
  }
})
