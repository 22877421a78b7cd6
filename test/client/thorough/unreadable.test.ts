import { chmod, chown, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { push } from '../../../client/src/sync/index.ts'
import { noOtherUser, otherUser, runAsOther } from '../../support/program.ts'
import { pathsOf, readSite, readTree, reported, test, writeTree } from '../support/site.ts'

describe.skipIf(noOtherUser !== undefined)('a file or a folder that cannot be read', () => {
  /** Gives a folder to a user without root permissions, and runs commands as this user. */
  const asOther = test.extend('asOther', async ({ service, makeDirectory }) => {
    const own = async (directory: string) => {
      for (const each of ['', ...(await readdir(directory, { recursive: true }))])
        await chown(join(directory, each), otherUser, otherUser)
    }
    const room = await makeDirectory({ token: service.token })
    await own(room)
    const global = ['--url', service.baseUrl, '--token-file', join(room, 'token')]
    return { own, run: (...args: readonly string[]) => runAsOther('client/src/command/main.ts', [...global, ...args]) }
  })

  asOther(
    'fails alone: the rest is sent and fetched, and it does not count as gone on either side',
    async ({ client, folder, makeDirectory, asOther: { own, run } }) => {
      const tree = { 'a.txt': 'a', 'secret.txt': 'secret', 'moved.txt': 'm', 'closed/b.txt': 'b' }
      const here = await makeDirectory(tree)
      await push({ client, directory: here, folder })
      await client.files.put(`${folder}/old.txt`, 'old')
      await client.files.put(`${folder}/closed/new.txt`, 'new')
      await client.files.remove(`${folder}/secret.txt`)
      await writeTree(here, { 'a.txt': 'changed' })
      await rename(join(here, 'moved.txt'), join(here, 'closed/moved.txt'))
      await chmod(join(here, 'secret.txt'), 0)
      await chmod(join(here, 'closed'), 0)
      await own(here)

      const pushed = await run('push', '--delete', '--yes', here, folder)
      expect(pushed).toMatchObject({ status: 1, stdout: expect.stringContaining('replaced  a.txt') })
      expect(pushed.stderr).toMatch(/failed {2}closed: You have no permission to read or write this: [^\n]+closed\./)
      expect(pushed.stderr).toMatch(/failed {2}secret\.txt: You have no permission to read or write this: /)
      expect(pushed.stderr).toContain('Done: 0 created, 1 replaced, 0 removed, 2 failed.')
      expect(await readSite(client, folder)).toStrictEqual({
        'a.txt': 'changed',
        'closed/b.txt': 'b',
        'closed/new.txt': 'new',
        'moved.txt': 'm',
        'old.txt': 'old',
      })
      expect(await run('diff', '--delete', here, folder)).toMatchObject({ status: 1 })

      const pulled = await run('pull', '--delete', '--yes', folder, here)
      expect(pulled).toMatchObject({ status: 1, stdout: expect.stringMatching(/\ncreated {2}old\.txt\n$/) })
      expect(pulled.stderr).toContain('Done: 1 created, 0 replaced, 0 removed, 2 failed.')
      expect(await readTree(here)).toStrictEqual({
        'a.txt': 'changed',
        'secret.txt': 'secret',
        'closed/b.txt': 'b',
        'closed/moved.txt': 'm',
        'old.txt': 'old',
      })

      // The state still contains the file when it becomes readable again.
      await chmod(join(here, 'secret.txt'), 0o644)
      expect(await run('push', here, folder)).toMatchObject({
        stdout: expect.stringContaining('left alone (changed on the target only)  secret.txt  6 bytes\n'),
      })
    },
  )

  asOther.for(['push', 'pull'] as const)(
    'during a first %s does not count as seen: the file of this machine is not lost, nor that of the site for a pull (T-38)',
    async (first, { client, folder, makeDirectory, asOther: { own, run } }) => {
      await client.files.put(`${folder}/a.txt`, 'theirs')
      const here = await makeDirectory({ 'a.txt': 'mine', 'b.txt': 'b' })
      await chmod(join(here, 'a.txt'), 0)
      await own(here)
      expect(await run(first, ...(first === 'push' ? [here, folder] : [folder, here]))).toMatchObject({ status: 1 })
      await chmod(join(here, 'a.txt'), 0o644)
      expect(await run('pull', folder, here)).toMatchObject({ status: 3 })
      expect(await readFile(join(here, 'a.txt'), 'utf8')).toBe('mine')
      expect((await run('push', here, folder)).status).toBe(first === 'push' ? 0 : 3)
      expect((await readSite(client, folder))['a.txt']).toBe(first === 'push' ? 'mine' : 'theirs')
    },
  )
})

test('a name that is not UTF-8 is skipped with the reason, and the rest continues', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  await writeFile(Buffer.concat([Buffer.from(`${here}/caf`), Buffer.from([0xe9])]), 'latin')
  const { end, events } = await reported(push, { client, directory: here, folder })
  expect(end).toMatchObject({ create: 1, failed: 0 })
  expect(pathsOf(events, 'skipped')).toStrictEqual(['caf\ufffd'])
})
