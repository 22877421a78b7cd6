import { expect } from 'vitest'
import { isListening } from '../../../support/listen.ts'
import { launch } from '../../../support/program.ts'
import { lastAnswer, type RawConnection, rawConnection, requestText } from '../../../support/raw-http.ts'
import type { SpawnedService } from '../../../support/spawned-service.ts'
import { test } from '../../../support/test.ts'

const field = '/api/v1/admin/sites/current/webforms/1/fields/system/-2'
const change = '{"mandatory":false,"order":7}'
const half = 10

/** Sends a change up to the middle of its body, and waits. */
const beginChange = async ({ baseUrl, token }: SpawnedService): Promise<RawConnection> => {
  const connection = await rawConnection({ url: baseUrl })
  await connection.write(
    requestText('PUT', field, { Authorization: token, 'Content-Length': change.length, Expect: '100-continue' }),
  )
  // From here on the service reads the body: the request is in flight.
  await connection.until(/100 Continue\r\n\r\n/)
  await connection.write(change.slice(0, half))
  return connection
}

const takesConnections = (url: string): Promise<boolean> => isListening(Number(new URL(url).port))

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} stops the service after the running request, with status 0 (O-26)`, async ({ start }) => {
    const service = await start()
    const connection = await beginChange(service)

    service.kill(signal)
    // The shell and the system each send this signal when a terminal closes.
    if (signal === 'SIGHUP') service.kill(signal)
    await expect.poll(() => takesConnections(service.baseUrl)).toBe(false)
    await connection.write(change.slice(half))

    expect(lastAnswer(await connection.rest()).status).toBe(200)
    const ended = await service.ended
    expect(ended).toMatchObject({ status: 0, signal: null })
    expect(ended.stderr).toMatch(/^Waiting for the answers to 1 request\.$/m)

    const next = await start()
    expect(await (await next.request(field)).json()).toMatchObject({ mandatory: false, order: 7 })
  })
}

test('a service also ends when its parent process is killed', async ({ directory }) => {
  const starter = launch('bin/site-admin.js', ['--json', '--data-dir', directory, 'serve', '--port', '0'])
  const { baseUrl } = JSON.parse(await starter.line())
  starter.kill('SIGKILL')
  // `ended` waits for the service, too, because the service writes to the output of its parent.
  expect((await starter.ended).signal).toBe('SIGKILL')
  expect(await takesConnections(baseUrl)).toBe(false)
})

test('a second signal ends the service at once', async ({ start }) => {
  const service = await start()
  await beginChange(service)
  service.kill('SIGINT')
  await expect.poll(() => takesConnections(service.baseUrl)).toBe(false)
  service.kill('SIGINT')
  expect(await service.ended).toMatchObject({ signal: 'SIGINT' })
})
