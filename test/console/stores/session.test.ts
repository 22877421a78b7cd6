import { expect, test } from 'vitest'
import { createSession } from '../../../console/page/session.ts'
import { address, isSites, json, scriptedFetch, sites } from '../../client/support/scripted-fetch.ts'

const emptyStore = () => ({ getItem: () => null, setItem: () => {}, removeItem: () => {} })
const me = { name: 'ann', kind: 'session', expires: null, sites: [{ id: 1, name: 'Site 1', rights: [] }] }

test.for([
  [200, true, {}],
  [401, true, { code: 101000, message: 'The token is wrong.' }],
  [500, false, { code: 100500, message: 'Something failed.' }],
] as const)('after a sign-out with %i, the session is over: %s (K-6, K-30)', async ([status, hasEnded, body]) => {
  const { fetch } = scriptedFetch((asked) => {
    if (isSites(asked)) return sites(address)
    return asked.method === 'DELETE' ? json(body, status) : json(me)
  })
  const session = createSession({ url: address, stores: { tab: emptyStore(), device: emptyStore() }, fetch })
  await session.signIn({ token: 'secret' }, 'tab')
  expect(session.entrance.value?.me?.name).toBe('ann')
  const ended = session.signOut().then(
    () => true,
    () => false,
  )
  expect([session.entrance.value, await ended]).toEqual([undefined, hasEnded])
})

test('after a sign-out, earlier steps send nothing more with the token (K-6)', async () => {
  const { fetch, asked } = scriptedFetch((each) => (isSites(each) ? sites(address) : json({ ...me, kind: 'token' })))
  const session = createSession({ url: address, stores: { tab: emptyStore(), device: emptyStore() }, fetch })
  await session.signIn({ token: 'secret' }, 'tab')
  const client = session.entrance.value?.choose(1)
  await session.signOut()
  const before = asked.length
  void client?.files.createFolder('late')
  await new Promise(setImmediate)
  expect(asked).toHaveLength(before)
  await session.signIn({ token: 'secret' }, 'tab')
  expect(session.entrance.value?.me?.name).toBe('ann')
})

test('a refusal that arrives after a sign-out changes no later session (K-6)', async () => {
  const text = Promise.withResolvers<string>()
  const body = new ReadableStream({
    pull: async (controller) => {
      controller.enqueue(new TextEncoder().encode(await text.promise))
      controller.close()
    },
  })
  const arrived = Promise.withResolvers<void>()
  const { fetch } = scriptedFetch((each) => {
    if (isSites(each)) return sites(address)
    if (!each.url.includes('storage')) return json({ ...me, kind: 'token' })
    arrived.resolve()
    return new Response(body, { status: 401, headers: { 'Content-Type': 'application/json' } })
  })
  const session = createSession({ url: address, stores: { tab: emptyStore(), device: emptyStore() }, fetch })
  await session.signIn({ token: 'secret' }, 'tab')
  let isOver = false
  const end = () => {
    isOver = true
  }
  session.entrance.value?.choose(1).files.createFolder('late').then(end, end)
  await arrived.promise
  await new Promise(setImmediate)
  await session.signOut()
  await session.signIn({ token: 'other' }, 'tab')
  text.resolve('{"code":101000,"message":"The token is wrong."}')
  // These requests take longer than the rest of that step.
  await session.readRights()
  expect([isOver, session.isExpired.value]).toEqual([false, false])
})

test('a sign-in works after sign-outs at once, during a read of the rights (K-6, K-30)', async () => {
  const { fetch, asked } = scriptedFetch((each) => (isSites(each) ? sites(address) : json(me)))
  let held: Promise<void> | undefined
  const slow: typeof fetch = async (...request) => {
    await held
    return fetch(...request)
  }
  const session = createSession({ url: address, stores: { tab: emptyStore(), device: emptyStore() }, fetch: slow })
  await session.signIn({ token: 'secret' }, 'tab')
  const gate = Promise.withResolvers<void>()
  held = gate.promise
  const running = [session.readRights(), session.signOut({ all: true }), session.signOut()]
  gate.resolve()
  await Promise.all(running)
  await session.signIn({ token: 'secret' }, 'tab')
  expect([session.isBusy.value, session.entrance.value?.me?.name]).toEqual([false, 'ann'])
  const before = asked.length
  await session.readRights()
  expect(asked).toHaveLength(before + 2)
})

test('the page learns the sites of the person, and keeps unsaved work (K-5, K-6)', async () => {
  let urls = [address]
  let held: number | undefined
  const { fetch } = scriptedFetch((asked) => {
    if (isSites(asked)) return sites(...urls)
    return asked.url.includes('storage') ? json({ code: 104023, message: 'No such site.' }, 400) : json(me)
  })
  const stores = { tab: emptyStore(), device: emptyStore() }
  const session = createSession({ url: address, stores, fetch, heldSite: () => held })
  await session.signIn({ token: 'secret' }, 'tab')
  const idsAfter = async (given: readonly string[]) => {
    urls = [...given]
    await session.readRights()
    return session.entrance.value?.list.map(({ id }) => id)
  }
  const early = session.readRights()
  expect(await idsAfter([address, address])).toEqual([1, 2])
  await early
  held = 2
  expect(await idsAfter([address])).toEqual([1, 2])
  held = 1
  await expect(session.entrance.value?.choose(2).files.createFolder('a')).rejects.toThrow('No such site.')
  await expect.poll(() => session.entrance.value?.list.map(({ id }) => id)).toEqual([1])
})

test('a token that stops working is forgotten, so that no page tries it again (K-6)', async () => {
  let isWorking = true
  const refused = () => json({ code: 101000, message: 'The token is wrong.' }, 401)
  const { fetch } = scriptedFetch((asked) => (isWorking ? (isSites(asked) ? sites(address) : json(me)) : refused()))
  const kept = new Map<string, string>()
  const device = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  }
  const session = createSession({ url: address, stores: { tab: emptyStore(), device }, fetch })
  await session.signIn({ token: 'secret' }, 'device')
  expect(session.hasKept()).toBe(true)
  isWorking = false
  await session.readRights()
  expect([session.isExpired.value, session.hasKept(), session.entrance.value?.me?.name]).toEqual([true, false, 'ann'])
})
