import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import { fields, storage } from '../../../support/paths.ts'
import { startInShell } from '../../../support/program.ts'
import { lastAnswer, rawConnection, requestText } from '../../../support/raw-http.ts'
import { test as base } from '../../../support/test.ts'

const handles = 64

/** A service with a limit of open files and connections. */
const test = base.extend('scarce', async ({ directory }, { onCleanup }) => {
  const command = `ulimit -n ${handles}; exec "$node" local/main.js --json --port 0 --data-dir "$1"`
  const program = startInShell(command, [directory])
  onCleanup(async () => {
    program.kill('SIGTERM')
    await program.ended
  })
  const { baseUrl, token } = JSON.parse(await program.line())
  return { baseUrl, token, program }
})

/** Connects, and sends a request. Returns the connection if the service accepts it, otherwise undefined. */
const taken = (url: string): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => socket.write(requestText('GET', '/health')))
    socket.on('error', () => {})
    socket.once('close', () => resolve(undefined))
    // The answer proves that the service accepted the connection.
    socket.once('data', () => resolve(socket))
  })

/** Opens connections until the service has no free handle. Returns the connections that the service accepted. */
const useUp = async (url: string): Promise<readonly Socket[]> => {
  const sockets: Socket[] = []
  for (let socket = await taken(url); socket && sockets.length < 4 * handles; socket = await taken(url)) {
    sockets.push(socket)
  }
  return sockets
}

test('without file handles, the service refuses (O-19)', async ({ scarce: { baseUrl, token, program } }) => {
  const headers = { Authorization: token }
  const put = (path: string, size: number) =>
    fetch(`${baseUrl}${storage}/${path}`, { method: 'PUT', headers, body: 'x'.repeat(size) })
  for (const [path, size] of [
    ['large', 40_000],
    ['small', 500],
  ] as const) {
    expect((await put(path, size)).status).toBe(200)
  }

  const kept = await rawConnection({ url: baseUrl })
  const ask = async (method: string, path: string, body = '') => {
    const type = { 'Content-Type': 'application/json', 'Content-Length': body.length }
    await kept.write(requestText(method, path, { ...headers, ...type }, body))
  }
  await ask('GET', '/health')
  await kept.until(/"ok"/)
  const sockets = await useUp(baseUrl)

  await ask('GET', `${storage}/large`)
  expect(lastAnswer(await kept.until(/100503.*\}/))).toMatchObject({ status: 503 })
  await ask('PUT', `${storage}/new`, 'x'.repeat(50_000))
  expect(lastAnswer(await kept.until(/100503.*100503.*\}/s))).toMatchObject({ status: 503 })
  // Small files are in the database, which is already open.
  await ask('GET', `${storage}/small`)
  expect(lastAnswer(await kept.until(/x{500}/))).toMatchObject({ status: 200 })
  // The code that reads such a body is not loaded yet.
  await ask('POST', fields, '{}')
  expect(lastAnswer(await kept.until(/(?:"code".*){3}\}/s))).toMatchObject({ status: 503 })

  for (const socket of sockets) socket.destroy()
  kept.destroy()
  await expect.poll(async () => (await put('large', 50_000).catch(() => undefined))?.status).toBe(200)
  const read = await fetch(`${baseUrl}${storage}/large`, { headers })
  expect(await read.text()).toBe('x'.repeat(50_000))
  program.kill('SIGTERM')
  expect(await program.ended).toMatchObject({ status: 0 })
})
