import { mkdir, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { launch, run } from '../../support/program.ts'
import { rawConnection } from '../../support/raw-http.ts'
import { test } from '../../support/test.ts'

const startOn = (directory: string, flags: readonly string[] = ['--port', '0']) =>
  run('local/main.ts', ['--json', '--data-dir', directory, ...flags])

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('a start that cannot be says why in one line, and ends with status 1', () => {
  test.for(['--port', '--data-centres'])('when the port that %s names is taken', async (flag, { directory }) => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    try {
      const value = flag === '--port' ? String(port) : `us:0,eu:${port}`
      const outcome = await startOn(directory, [flag, value])
      expect(outcome).toMatchObject({ status: 1, stdout: '' })
      expect(outcome.stderr).toBe(`Port ${port} is taken. Choose another one with --port or --data-centres.\n`)
    } finally {
      other.close()
    }
  })

  test('when a setting is wrong, before it resets anything', async ({ directory }) => {
    const kept = join(directory, 'objects', 'kept')
    await mkdir(dirname(kept), { recursive: true })
    await writeFile(kept, '')
    const wrong = { LARGEST_FILE: 'huge', FSYNC: 'maybe' }
    const outcome = await launch('local/main.ts', ['--port', '0', '--reset', '--data-dir', directory], wrong).ended
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toBe(
      'Settings missing or wrong: LARGEST_FILE (must be a whole number from 1 to 5368709120), FSYNC (must be one of on, off).\n',
    )
    expect((await stat(kept)).isFile()).toBe(true)
  })

  test('when the directory cannot be written', async ({ directory }) => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    const outcome = await startOn(join(file, 'data'))
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^The data directory .+ cannot be written: .+\n$/)
  })

  test('when the directory is a file', async ({ directory }) => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    const outcome = await startOn(file)
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^The data directory .+ cannot be written: .+\n$/)
  })

  test('when another service has the directory, which goes on undisturbed', async ({ directory, start }) => {
    const service = await start()
    const outcome = await startOn(directory, ['--port', '0', '--reset'])
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^The data directory .+ is in use by another process\. .+--data-dir\.\n$/)
    expect((await service.request('/api/v1/admin/sites/current/webforms')).status).toBe(200)
  })

  test('when its path is too long for a socket', async ({ directory }) => {
    const outcome = await startOn(join(directory, 'x'.repeat(100)))
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^The path of the data directory is too long: .+--data-dir\.\n$/)
  })
})

test('the tables cannot be reached by other users', async ({ directory, start }) => {
  await start()
  expect(await modeOf(join(directory, 'run'))).toBe('700')
  expect(await modeOf(join(directory, 'run', 'tables.sock'))).toBe('600')
})

test('the token cannot be read by other users', async ({ directory, start }) => {
  await start()
  expect(await modeOf(join(directory, 'demo.json'))).toBe('600')
})

test('a client that breaks off in the middle of a request to the tables does the service no harm', async ({
  directory,
  start,
}) => {
  const service = await start()
  for (const part of ['', 'POST / HT', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"TableName"']) {
    const connection = await rawConnection({ path: join(directory, 'run', 'tables.sock') })
    await connection.write(part)
    connection.destroy()
  }
  const waiting = await rawConnection({ path: join(directory, 'run', 'tables.sock') })
  await waiting.write('nonsense\r\n\r\n')
  await waiting.rest()

  expect((await service.request('/api/v1/admin/sites/current/webforms')).status).toBe(200)
  expect(await service.stop()).toMatchObject({ status: 0 })
})
