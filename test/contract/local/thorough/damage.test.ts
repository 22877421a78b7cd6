import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect } from 'vitest'
import { checkDirectory } from '../../../../lib/machine/check/check-directory.ts'
import { administer } from '../../../support/administration.ts'
import { damages } from '../../../support/damaged-directory.ts'
import { makeDirectory, removeDirectory } from '../../../support/directory.ts'
import { snapshotOf } from '../../../support/directory-snapshot.ts'
import { fields } from '../../../support/paths.ts'
import { launch, run } from '../../../support/program.ts'
import { type SpawnedService, startService } from '../../../support/spawned-service.ts'
import { test as base } from '../../../support/test.ts'

const large = '/api/v2/admin/sites/current/storage/large.bin'

const fill = async (service: SpawnedService): Promise<void> => {
  const stored = await service.request(large, { method: 'PUT', body: Buffer.alloc(40_000, 'x') })
  const removed = await service.request(`${fields}/-2`, { method: 'DELETE' })
  if (stored.status !== 200 || removed.status !== 200) throw new Error(`${stored.status}, ${removed.status}`)
}

/** A directory in which a service has been that ended so, with a file that is a blob. */
const makeUsed = async (signal: NodeJS.Signals) => {
  const directory = makeDirectory()
  const service = await startService(directory)
  await fill(service)
  service.kill(signal)
  await service.ended
  return { directory, token: service.token }
}

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  .extend('templates', { scope: 'file' }, async ({}, { onCleanup }) => {
    const [stopped, killed] = await Promise.all([makeUsed('SIGTERM'), makeUsed('SIGKILL')])
    onCleanup(() => {
      for (const { directory } of [stopped, killed]) removeDirectory(directory)
    })
    return { stopped, killed }
  })
  .extend('used', async ({ directory, templates }) => async (ending: 'stopped' | 'killed') => {
    const { directory: template, token } = templates[ending]
    await cp(template, directory, { recursive: true })
    return { directory, token }
  })

const start = (directory: string) => run('local/main.js', ['--json', '--port', '0', '--data-dir', directory])

for (const { name, killed = false, inflict, refusal, warning, faults } of damages) {
  describe(name, () => {
    const ending = killed ? 'killed' : 'stopped'

    if (refusal) {
      test('stops the start with a sentence, and nothing is changed', async ({ used }) => {
        const { directory } = await used(ending)
        inflict(directory)
        const before = snapshotOf(directory)
        const outcome = await start(directory)
        expect(outcome).toMatchObject({ status: 1, stdout: '' })
        expect(outcome.stderr).toMatch(refusal)
        expect(outcome.stderr).toContain(directory)
        expect(snapshotOf(directory)).toEqual(before)
      })
    } else {
      test('does not stop the start (O-15)', async ({ used }) => {
        const { directory, token } = await used(ending)
        inflict(directory)
        const service = launch('local/main.js', ['--json', '--quiet', '--port', '0', '--data-dir', directory])
        const { baseUrl } = JSON.parse(await service.line())
        const answer = await fetch(`${baseUrl}${fields}/-2`, { headers: { Authorization: token } })
        service.kill('SIGTERM')
        const { status, stderr } = await service.ended
        expect({ status, answer: answer.status }).toEqual({ status: 0, answer: 404 })
        if (warning) expect(stderr).toMatch(warning)
        else expect(stderr).toBe('')
      })
    }

    test('is named by check, which changes nothing', async ({ used }) => {
      const { directory } = await used(ending)
      inflict(directory)
      const before = snapshotOf(directory)
      const { status, stdout, stderr } = await administer(directory, ['--json', 'check'])
      expect({ stderr, status }).toEqual({ stderr: '', status: faults.length > 0 ? 1 : 0 })
      const found = JSON.parse(stdout)
      expect(found).toEqual({
        faults: faults.map(({ where, fault }) => ({
          where: expect.stringMatching(where),
          fault: expect.stringMatching(fault),
        })),
      })
      expect(snapshotOf(directory)).toMatchObject(before)
    })

    test('is named by check --bytes as well', async ({ used }) => {
      const { directory } = await used(ending)
      inflict(directory)
      const plainly = await checkDirectory(directory)
      const thoroughly = await checkDirectory(directory, { withBytes: true })
      expect(thoroughly.filter(({ fault }) => !fault.startsWith('the bytes of the files were not compared'))).toEqual(
        plainly,
      )
    })
  })
}

test('the layout of a newer version is refused by the start and by check', async ({ used }) => {
  const { directory } = await used('stopped')
  await writeFile(join(directory, 'site-admin.json'), '{"service":"site-admin","layout":2,"ready":true}')
  const before = snapshotOf(directory)
  for (const outcome of [await start(directory), await administer(directory, ['check'])]) {
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^The data directory .+ has layout 2, and this version .+ Nothing was changed\.\n$/)
  }
  expect(snapshotOf(directory)).toEqual(before)
})

test('a database that another process holds is not called damaged', async ({ used }) => {
  const { directory } = await used('killed')
  const holder = new DatabaseSync(join(directory, 'site-admin.db'))
  holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE')
  const outcome = await start(directory)
  holder.close()
  expect(outcome).toMatchObject({ status: 1, stdout: '' })
  expect(outcome.stderr).toMatch(
    /site-admin\.db is in use by another process\. Repeat this .+ Nothing was changed\.\n$/,
  )
})

test('a copy of the running directory without the WAL is refused (O-14)', async ({ start: serve, directory }) => {
  const service = await serve()
  await fill(service)
  const copy = `${directory}-copy`
  await cp(directory, copy, { recursive: true })
  try {
    await rm(join(copy, 'site-admin.db-wal'))
    const before = snapshotOf(copy)
    const outcome = await start(copy)
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/site-admin\.db-wal is missing/)
    expect(snapshotOf(copy)).toEqual(before)
  } finally {
    await rm(copy, { recursive: true })
  }
})
