import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { connect as connectTo, type Delivery } from '../../../../client/src/index.ts'
import { administerJson } from '../../../support/administration.ts'
import { freePort, isListening } from '../../../support/listen.ts'
import { test } from '../../../support/test.ts'

const page = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'events.md')

/** How to run the receiver of each language in the page. */
const languages = [
  ['ts', 'node', (code: string) => ['--input-type=module-typescript', '-e', code]],
  ['py', 'python3', (_: string, file: string) => [file]],
  ['php', 'php', (_: string, file: string, port: number) => ['-S', `127.0.0.1:${port}`, file]],
] as const

const fenceOf = { ts: 'ts', py: 'python', php: 'php' } as const

const exists = (command: string): boolean => spawnSync(command, ['--version']).status === 0

const allRights = ['files', 'forms', 'categories', 'history', 'access'].flatMap((area) => ['--right', `${area}:write`])

/** Starts a documented receiver, which ends with the test. */
const startReceiver = async (
  [language, command, argsFor]: (typeof languages)[number],
  directory: string,
  port: number,
  secret: string,
) => {
  const [, code = ''] =
    new RegExp(`\`\`\`${fenceOf[language]}\n(.*?)\`\`\``, 's').exec(await readFile(page, 'utf8')) ?? []
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(22)
  const file = join(directory, `receiver.${language}`)
  const own = code.replaceAll('4100', String(port))
  await writeFile(file, own)
  const env = { ...process.env, WEBHOOK_SECRET: secret, TMPDIR: directory }
  const receiver = spawn(command, argsFor(own, file, port), { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const exit = once(receiver, 'exit')
  onTestFinished(async () => {
    receiver.kill()
    await exit
  })
  await vi.waitUntil(async () => receiver.exitCode !== null || (await isListening(port)), { timeout: 10_000 })
  return receiver
}

test.for(languages)('the documented %s receiver works (V-6, V-7)', async (language, { directory, start, skip }) => {
  skip(!exists(language[1]), `This machine has no ${language[1]}`)
  const port = await freePort()
  const service = await start(['--port', '0', '--allow-private-webhooks'])
  const issued = await administerJson(directory, ['token', 'issue', '--user', 'ann', '--site', '1001', ...allRights])
  const { webhooks } = await connectTo({ url: service.baseUrl, token: issued.token })
  const targetUrl = `http://127.0.0.1:${port}/`
  const { id, secret } = await webhooks.create({ targetUrl, types: ['file.stored'] })

  const receiver = await startReceiver(language, directory, port, secret)
  const printed: string[] = []
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text))

  const deliveries = async () => {
    const found: Delivery[] = []
    for await (const delivery of webhooks.deliveries(id)) found.push(delivery)
    return found
  }

  expect((await webhooks.test(id)).status).toBe(204)
  const body = new FormData()
  body.append('file', new File(['a'], 'a.txt'))
  const headers = { Authorization: String(issued.token) }
  await fetch(`${service.baseUrl}/api/v2/admin/sites/1001/storage/`, { method: 'POST', headers, body })
  const both = `site-admin.webhook.test webhook/${id}\nsite-admin.file.stored \n`
  await expect.poll(() => printed.join('')).toBe(both)
  await expect.poll(deliveries).toHaveLength(1)
  const [{ id: first } = { id: '' }] = await deliveries()
  expect(await webhooks.repeat(id, first)).toMatchObject({ status: 204, attempt: 2 })
  const forged = { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }
  const { status } = await fetch(targetUrl, {
    method: 'POST',
    headers: { ...forged, 'webhook-signature': `v1,${'A'.repeat(43)}=` },
    body: '{}',
  })
  expect(status).toBe(401)
  expect(printed.join('')).toBe(both)
})

test.for(languages)(
  'the documented %s receiver accepts nothing without a secret (V-7)',
  async (language, { directory, skip }) => {
    skip(!exists(language[1]), `This machine has no ${language[1]}`)
    const port = await freePort()
    const { exitCode } = await startReceiver(language, directory, port, '')
    if (exitCode !== null) return expect(exitCode).toBe(1)
    const [id, sent, body] = ['x', String(Math.floor(Date.now() / 1000)), '{"type":"forged"}']
    const signature = `v1,${createHmac('sha256', '').update(`${id}.${sent}.${body}`).digest('base64')}`
    const headers = { 'webhook-id': id, 'webhook-timestamp': sent, 'webhook-signature': signature }
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
    expect(status).toBe(500)
  },
)
