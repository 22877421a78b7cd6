import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { administer, administerJson } from '../../../support/administration.ts'
import { fields, news, storage } from '../../../support/paths.ts'
import { launch, noOtherUser, otherUser, runAsOther } from '../../../support/program.ts'
import { test as base } from '../../../support/test.ts'

/** A data directory on which a service has run once, and the token of its demo. `demo`: what its file says. */
const test = base.extend('used', async ({ directory, start }) => {
  const service = await start()
  await service.stop()
  const file = join(directory, 'demo.json')
  return { directory, file, token: service.token, demo: JSON.parse(readFileSync(file, 'utf8')) }
})

const removeSite = async (directory: string) => {
  expect(await administer(directory, ['site', 'remove', '1001', '--yes'])).toMatchObject({ status: 0 })
}

const tokensOf = (directory: string) => administerJson(directory, ['token', 'list'])

describe('the demo token', () => {
  test('is the same at every start, and works (O-7)', async ({ used: { token, directory, file }, start }) => {
    const before = readFileSync(file)
    const service = await start()
    expect(service.token).toBe(token)
    for (const path of [fields, news, `${storage}?meta`]) expect((await service.request(path)).status).toBe(200)
    expect(readFileSync(file)).toEqual(before)
    expect(await tokensOf(directory)).toHaveLength(1)
  })

  test('that was revoked stays so, and another one is issued', async ({ used: { directory, token, file }, start }) => {
    expect(await administer(directory, ['token', 'revoke', token])).toMatchObject({ status: 0 })
    const service = await start()
    expect(service.token).not.toBe(token)
    expect((await service.request(fields)).status).toBe(200)
    expect((await service.request(fields, { headers: { Authorization: token } })).status).toBe(401)
    const { stderr } = await service.stop()
    expect(stderr).toMatch(/^The demo token was revoked or has expired\. A new one replaces it\.\n/)
    expect(readFileSync(file, 'utf8')).toContain(service.token)
  })

  test('of a directory of an earlier version goes on', async ({ used: { demo, token, file }, start }) => {
    const { state: _, ...earlier } = demo
    writeFileSync(file, JSON.stringify(earlier))
    expect((await start()).token).toBe(token)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(demo)
  })
})

test.skipIf(noOtherUser !== undefined)(
  'check does not advise to remove a file of the demo that only lacks rights',
  async ({ used: { directory, file } }) => {
    execFileSync('chown', ['-R', `${otherUser}:${otherUser}`, directory])
    execFileSync('chown', ['root:root', file])
    const { status, stdout } = await runAsOther('admin/main.js', ['--json', '--data-dir', directory, 'check'])
    expect({ status, ...JSON.parse(stdout) }).toEqual({
      status: 1,
      faults: [
        { where: file, fault: expect.stringMatching(/^it cannot be read: EACCES: .+ Only rights are missing: /) },
      ],
    })
  },
)

describe('a demo site that was removed', () => {
  test('stays removed, and programs are told of none', async ({ used: { directory }, start }) => {
    await removeSite(directory)
    for (let restart = 0; restart < 2; restart += 1) {
      const service = await start()
      expect(JSON.parse(service.line)).toEqual({ baseUrl: service.baseUrl, dataCentres: service.dataCentres })
      await service.stop()
    }
    expect(await administerJson(directory, ['site', 'list'])).toEqual([])
    expect(await tokensOf(directory)).toEqual([])
  })

  test('lets people be told what to do instead', async ({ used: { directory } }) => {
    await removeSite(directory)
    const program = launch('local/main.js', ['--port', '0', '--data-dir', directory])
    const lines: string[] = []
    do lines.push(await program.line())
    while (!lines.at(-1)?.startsWith('Stop it'))
    program.kill('SIGTERM')
    await program.ended
    expect(lines.join('\n')).toMatch(/ready at .+\n\nCreate a site, .+site create .+token issue /s)
    expect(lines.join('\n')).not.toMatch(/undefined|^(Site|Token) /m)
  })

  test('stays removed in a backup', async ({ used: { directory }, onTestFinished }) => {
    await removeSite(directory)
    const [backup, restored] = [`${directory}-backup`, `${directory}-restored`]
    onTestFinished(() => {
      for (const folder of [backup, restored]) rmSync(folder, { recursive: true, force: true })
    })
    expect(await administer(directory, ['backup', backup])).toMatchObject({ status: 0 })
    expect(await administer(restored, ['restore', backup])).toMatchObject({ status: 0 })
    const program = launch('local/main.js', ['--json', '--port', '0', '--data-dir', restored])
    expect(JSON.parse(await program.line())).not.toHaveProperty('siteId')
    program.kill('SIGTERM')
    await program.ended
  })

  test('comes back with --reset', async ({ used: { directory }, start }) => {
    await removeSite(directory)
    const service = await start(['--port', '0', '--reset', '--yes'])
    expect((await service.request(fields)).status).toBe(200)
  })

  test.skipIf(noOtherUser !== undefined)(
    'by root does not keep its owner from using the directory',
    async ({ used: { directory } }) => {
      execFileSync('chown', ['-R', `${otherUser}:${otherUser}`, directory])
      await removeSite(directory)
      expect(await runAsOther('admin/main.js', ['--data-dir', directory, 'check'])).toMatchObject({ status: 0 })
    },
  )
})

describe('a site of that id which is not the demo site gets no token', () => {
  test('when it was made in the place of the demo site', async ({ used: { directory }, start }) => {
    await removeSite(directory)
    await administerJson(directory, ['site', 'create', '--name', 'Shop', '--id', '1001'])
    expect(JSON.parse((await start()).line)).not.toHaveProperty('token')
    expect(await tokensOf(directory)).toEqual([])
  })

  test('when an earlier version has removed the demo site', async ({ used: { directory, demo, file }, start }) => {
    const { state: _, ...earlier } = demo
    await removeSite(directory)
    await administerJson(directory, ['site', 'create', '--name', 'Shop', '--id', '1001'])
    writeFileSync(file, JSON.stringify(earlier))
    expect(JSON.parse((await start()).line)).not.toHaveProperty('token')
    expect(await tokensOf(directory)).toEqual([])
  })

  test('when nothing says that there has ever been a demo', async ({ siteDirectory, start }) => {
    expect(JSON.parse((await start()).line)).not.toHaveProperty('token')
    expect(await tokensOf(siteDirectory)).toEqual([])
  })

  test('when the file of the demo is missing, and what was stored stays', async ({ used, start }) => {
    const { directory, file, token } = used
    rmSync(file)
    const service = await start()
    expect(JSON.parse(service.line)).not.toHaveProperty('token')
    expect((await service.request(fields, { headers: { Authorization: token } })).status).toBe(200)
    expect(await tokensOf(directory)).toHaveLength(1)
  })
})

test('a first start that was killed while it made the demo is completed, with the token that it had chosen', async ({
  used: { directory, demo, file },
  start,
}) => {
  await removeSite(directory)
  writeFileSync(file, JSON.stringify({ ...demo, state: 'begun' }))
  const service = await start()
  expect(service.token).toBe(demo.token)
  expect((await service.request(fields)).status).toBe(200)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(demo)
})
