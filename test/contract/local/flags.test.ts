import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { run } from '../../support/program.ts'
import { test } from '../../support/test.ts'

const fields = '/api/v1/admin/sites/current/webforms/1/fields/system'

describe('npm start', () => {
  test('with --json prints one line, an object that tells a program all it needs', async ({ start }) => {
    const service = await start()
    expect(JSON.parse(service.line)).toMatchObject({
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      dataCentres: { us: service.baseUrl },
      siteId: 1001,
      webFormId: 1,
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect((await service.request(fields)).status).toBe(200)

    const { stdout } = await service.stop()
    expect(stdout).toBe(`${service.line}\n`)
  })

  test('logs a line per request on standard error, without the token and the query', async ({ start }) => {
    const service = await start()
    await service.request(`${fields}?secret=hush`)
    const { stderr } = await service.stop()
    expect(stderr).toMatch(/^GET listFields site 1001 200 [\d.]+ ms [\w-]+\n$/)
    expect(stderr).not.toContain(service.token)
    expect(stderr).not.toContain('hush')
  })

  test('with --quiet logs no requests', async ({ start }) => {
    const service = await start(['--port', '0', '--quiet'])
    await service.request(fields)
    expect((await service.stop()).stderr).toBe('')
  })

  test('with --help names every flag and ends well', async () => {
    const { status, stdout } = await run('local/main.ts', ['--help'])
    expect(status).toBe(0)
    for (const flag of ['port', 'data-dir', 'data-centres', 'reset', 'json', 'quiet', 'help']) {
      expect(stdout).toContain(`--${flag}`)
    }
  })

  test('with --reset begins anew, and leaves what is not its own', async ({ start, directory }) => {
    const first = await start()
    await first.request(`${fields}/-2`, { method: 'DELETE' })
    await first.stop()
    await writeFile(join(directory, 'notes.txt'), 'mine')

    const second = await start(['--port', '0', '--reset'])
    expect((await second.request(`${fields}/-2`)).status).toBe(200)
    expect((await second.request(fields, { headers: { Authorization: first.token } })).status).toBe(401)
    await writeFile(join(directory, 'notes.txt'), 'still here', { flag: 'r+' })
  })

  test('with --data-centres has a listener for each', async ({ start }) => {
    const { baseUrl, dataCentres } = await start(['--data-centres', 'us:0,eu:0'])
    expect(Object.keys(dataCentres)).toEqual(['us', 'eu'])
    expect(dataCentres['us']).toBe(baseUrl)
    expect(dataCentres['eu']).not.toBe(baseUrl)
    for (const url of Object.values(dataCentres)) expect((await fetch(`${url}/health`)).status).toBe(200)
  })

  test.for([
    '--port http',
    '--port 65536',
    '--port -1',
    '--port 0 --data-centres us:0',
    '--data-centres ',
    '--data-centres us',
    '--data-centres us:0,us:0',
    '--data-centres US:0',
    '--data-centres us:65536',
    '--verbose',
    'extra',
  ])('refuses "%s" with one line, and status 1', async (flags, { directory }) => {
    const { status, stdout, stderr } = await run('local/main.ts', ['--data-dir', directory, ...flags.split(' ')])
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^.+\n$/)
  })
})
