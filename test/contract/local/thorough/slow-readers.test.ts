import { readFileSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import { lastAnswer, type RawConnection, rawConnection, requestText } from '../../../support/raw-http.ts'
import { test } from '../../../support/test.ts'

const file = '/api/v2/admin/sites/current/storage/large'
const mebibyte = 1024 * 1024
const size = 12 * mebibyte
const content = 'A sentence of a large file. '.repeat(size).slice(0, size)
const readers = 300

const mebibytesOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Bytes that the service has read, from files and from sockets. */
const bytesTaken = (pid: number): number => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

test.runIf(process.platform === 'linux')(
  'readers of a link that read nothing use little memory, and do not block others',
  async ({ start }) => {
    const service = await start()
    const headers = { 'Content-Type': 'text/plain' }
    expect((await service.request(file, { method: 'PUT', body: content, headers })).status).toBe(200)
    const link = (await (await service.request(`${file}?link`)).json()) as { url: string }
    const { pathname, search } = new URL(link.url)
    const before = mebibytesOf(service.pid)

    const connections: RawConnection[] = []
    onTestFinished(() => {
      for (const connection of connections) connection.destroy()
    })
    const connect = async () => {
      const connection = await rawConnection({ url: service.baseUrl })
      connections.push(connection)
      return connection
    }
    for (let count = 0; count < readers; count++) {
      const connection = await connect()
      await connection.write(requestText('GET', pathname + search))
      await connection.until(/\r\n\r\n/)
    }
    // The service keeps reading while the system still buffers bytes for the readers.
    const taken: number[] = []
    await expect.poll(() => taken.push(bytesTaken(service.pid)) > 5 && taken.at(-5) === taken.at(-1)).toBe(true)
    expect(mebibytesOf(service.pid) - before).toBeLessThan(200)

    expect(await (await service.request(file)).text()).toBe(content)
    expect((await fetch(link.url, { method: 'HEAD' })).headers.get('Content-Length')).toBe(`${size}`)
    const pipelining = await connect()
    const part = (first: number, last: number, more = {}) =>
      requestText('GET', pathname + search, { Range: `bytes=${first}-${last}`, ...more })
    await pipelining.write(part(5, 90_004) + part(size - 200_000, size - 1, { Connection: 'close' }))
    const received = await pipelining.rest()
    expect(received).toContain(content.slice(5, 90_005))
    expect(lastAnswer(received)).toMatchObject({ status: 206, body: content.slice(-200_000) })

    for (const connection of connections) connection.destroy()
    await expect.poll(() => mebibytesOf(service.pid) - before).toBeLessThan(8)
  },
)
