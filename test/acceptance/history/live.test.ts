import { describe, expect, it } from 'vitest'
import { eventsIn, type StreamEvent } from '../../support/event-stream.ts'
import { target } from '../setup/target.ts'
import { admin, createSite, issueToken } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { ownFolder, store } from '../support/storage.ts'

const changes = '/api/v2/admin/sites/current/changes'
const stream = 'text/event-stream'
const own = ownFolder()

const read = (query: Readonly<Record<string, string>> = {}) => call(`${changes}?${new URLSearchParams(query)}`)

const end = async (): Promise<string> => (await read()).json.next ?? ''

interface Listening {
  readonly path?: string
  readonly query?: Readonly<Record<string, string>>
  readonly lastId?: string
  readonly token?: string
}

/** A stream of the changes. `next` is its next event with data; `close` disconnects. */
const listen = async ({ path = changes, query = {}, lastId, token = target.token }: Listening = {}) => {
  const connection = new AbortController()
  const response = await fetch(`${target.baseUrl}${path}?${new URLSearchParams(query)}`, {
    headers: {
      Authorization: token,
      Accept: stream,
      ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
    },
    signal: connection.signal,
  })
  const events = eventsIn(response.body ?? new ReadableStream())
  const next = async (): Promise<StreamEvent> => {
    for (;;) {
      const { value, done } = await events.next()
      if (done || value.data !== undefined) return value ?? {}
    }
  }
  return { response, events, next, close: () => connection.abort() }
}

/** Shows whether the service can stream. A service behind a gateway answers whole pages instead. */
const probe = await listen()
probe.close()
const describeStream = describe.skipIf(!probe.response.headers.get('Content-Type')?.startsWith(stream))

it('A request with wait gets its answer as soon as there is a change (V-20)', async () => {
  const after = await end()
  const waiting = read({ after, subject: `${own}/waited`, wait: '20' })
  await store(`${own}/other.txt`, 'x')
  await store(`${own}/waited.txt`, 'x')
  const { json } = await waiting
  expect(json.items).toMatchObject([{ type: 'file.stored', subject: `${own}/waited.txt` }])
  const [later, none] = await Promise.all([
    read({ after: json.next, subject: own, wait: '1' }),
    read({ after, subject: `${own}/none`, wait: '1' }),
  ])
  expect(later.json.items).toEqual([])
  // The caller continues after the changes that it does not want.
  expect(none.json).toEqual({ items: [], next: expect.any(String) })
})

it('Without after, or if changes already exist, wait has no effect (V-20)', async () => {
  const after = await end()
  await store(`${own}/there.txt`, 'x')
  expect((await read({ wait: '20', subject: own })).json.items).not.toEqual([])
  expect((await read({ wait: '20', subject: own, after })).json.items).toHaveLength(1)
})

it.each(['0', '21', '1.5', 'long', ''])('The value "%s" of wait is refused with 104000 (V-20)', async (wait) => {
  expectError(await read({ after: '', wait }), 400, 104000)
})

describeStream('A stream of changes', () => {
  it('With an empty Last-Event-ID, each new change comes at once (V-18, V-19)', async () => {
    const { response, events, next, close } = await listen({ query: { subject: own }, lastId: '' })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': stream,
      'cache-control': 'no-store',
      vary: 'Accept',
    })
    const { value: first } = await events.next()
    expect(first).toEqual({ id: await end() })
    await store(`${own}/heard.txt`, 'x')
    const { id, data } = await next()
    expect((await read({ after: first?.id ?? '', subject: own })).json.items).toEqual([data])
    expect(data).toMatchObject({ id, type: 'file.stored', subject: `${own}/heard.txt` })
    close()
  })

  it('A listener that often reconnects gets each change once, in order (V-19)', async () => {
    const start = await end()
    const names = Array.from({ length: 60 }, (_, index) => `lost/${index}`)
    const writing = Promise.all(
      [0, 1, 2].map(async (writer) => {
        for (const name of names.filter((_, index) => index % 3 === writer)) await store(`${own}/${name}`, name)
      }),
    )
    const heard: StreamEvent[] = []
    for (let connection = 0; heard.length < names.length; connection++) {
      const { next, close } = await listen({
        query: { after: start, subject: `${own}/lost` },
        ...(heard.length > 0 && { lastId: heard.at(-1)?.id ?? '' }),
      })
      const most = connection % 4
      for (let count = 0; count <= most && heard.length < names.length; count++) heard.push(await next())
      close()
    }
    await writing
    const { json } = await read({ after: start, subject: `${own}/lost` })
    expect(heard.map(({ data }) => data)).toEqual(json.items)
  })

  it('A listener also gets the changes of other processes (V-18)', async () => {
    const site = await createSite('Live')
    const token = await issueToken([site], 'files')
    const { next, close } = await listen({ path: `/api/v2/admin/sites/${site}/changes`, token })
    await admin('workflow', 'start', 'a.html', '--site', String(site))
    expect((await next()).data).toMatchObject({ type: 'workflow.created', subject: 'a.html' })
    close()
  })

  it('A listener gets only those changes that its token may read (V-18, A-47)', async () => {
    const site = await createSite('Live')
    const path = `/api/v2/admin/sites/${site}`
    const token = await issueToken([site], 'files:write:/news', 'history:read')
    const all = await issueToken([site], 'files')
    const { next, close } = await listen({ path: `${path}/changes`, token })
    for (const name of ['secret/a.txt', 'news/b.txt']) {
      await call(`${path}/storage/${name}`, { method: 'PUT', body: 'x', token: all })
    }
    expect((await next()).data).toMatchObject({ subject: 'news/b.txt' })
    close()
  })

  it('A token in the address, and the id of another site, are refused (V-18, V-19)', async () => {
    const accept = { Accept: stream }
    const inAddress = `${changes}?access_token=${target.token}`
    expectError(await call(inAddress, { token: null, headers: accept }), 401, 101000)
    const headers = { ...accept, 'Last-Event-ID': '1769860800000000-1' }
    expectError(await call(changes, { headers }), 400, 104000)
  })

  const page = 'application/json; charset=utf-8'
  it.each([
    ['A request with before gets a page, even if it asks for a stream (H-10, V-18)', 'GET', '?before=', stream, page],
    ['A request that accepts any text gets a page (V-18)', 'HEAD', '', 'text/html, text/*', page],
    ['HEAD answers with the headers of the stream and ends (V-18)', 'HEAD', '', stream, stream],
  ])('%s', async (_, method, query, accept, type) => {
    const { status, headers } = await call(changes + query, { method, headers: { Accept: accept } })
    expect([status, headers['content-type']]).toEqual([200, type])
  })
})
