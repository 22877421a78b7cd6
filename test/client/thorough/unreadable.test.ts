import { chmod, chown, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { messages } from '../../support/messages.ts'
import { noOtherUser, otherUser, runAsOther } from '../../support/program.ts'
import { pathsOf, readTree, test, writeTree } from '../support/site.ts'

describe.skipIf(noOtherUser !== undefined)('a file or folder that cannot be read', () => {
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
    'an unreadable path fails, other files are sent, and nothing is removed',
    async ({ asOther: { own, run }, folder, makeDirectory, site }) => {
      const tree = { 'a.txt': 'a', 'secret.txt': 'secret', 'moved.txt': 'm', 'closed/b.txt': 'b' }
      const here = await makeDirectory(tree)
      await site.push(here)
      await site.put('old.txt', 'old')
      await site.put('closed/new.txt', 'new')
      await site.remove('secret.txt')
      await writeTree(here, { 'a.txt': 'changed' })
      await rename(join(here, 'moved.txt'), join(here, 'closed/moved.txt'))
      await chmod(join(here, 'secret.txt'), 0)
      await chmod(join(here, 'closed'), 0)
      await own(here)

      const pushed = await run('push', '--delete', '--yes', here, folder)
      expect(pushed).toMatchObject({ status: 1, stdout: expect.stringContaining('replaced  a.txt') })
      expect(pushed.stderr).toMatch(messages.client.notPermitted('closed'))
      expect(pushed.stderr).toMatch(messages.client.notPermitted('secret.txt'))
      expect(pushed.stderr).toContain(messages.client.done(0, 1, ', 2 failed'))
      expect(await site.texts()).toStrictEqual({
        'a.txt': 'changed',
        'closed/b.txt': 'b',
        'closed/new.txt': 'new',
        'moved.txt': 'm',
        'old.txt': 'old',
      })
      expect(await run('diff', '--delete', here, folder)).toMatchObject({ status: 1 })

      const pulled = await run('pull', '--delete', '--yes', folder, here)
      expect(pulled).toMatchObject({ status: 1, stdout: expect.stringMatching(/\ncreated {2}old\.txt\n$/) })
      expect(pulled.stderr).toContain(messages.client.done(1, 0, ', 2 failed'))
      expect(await readTree(here)).toStrictEqual({
        'a.txt': 'changed',
        'secret.txt': 'secret',
        'closed/b.txt': 'b',
        'closed/moved.txt': 'm',
        'old.txt': 'old',
      })

      // The state still contains the file when the file is readable again.
      await chmod(join(here, 'secret.txt'), 0o644)
      expect(await run('push', here, folder)).toMatchObject({
        stdout: expect.stringContaining('left unchanged (changed only on the target)  secret.txt  6 bytes\n'),
      })
    },
  )

  asOther.for(['push', 'pull'] as const)(
    'a path that a first %s cannot read is not removed later (T-38)',
    async (first, { folder, makeDirectory, site, asOther: { own, run } }) => {
      await site.put('a.txt', 'theirs')
      const here = await makeDirectory({ 'a.txt': 'mine', 'b.txt': 'b' })
      await chmod(join(here, 'a.txt'), 0)
      await own(here)
      expect(await run(first, ...(first === 'push' ? [here, folder] : [folder, here]))).toMatchObject({ status: 1 })
      await chmod(join(here, 'a.txt'), 0o644)
      expect(await run('pull', folder, here)).toMatchObject({ status: 3 })
      expect(await readFile(join(here, 'a.txt'), 'utf8')).toBe('mine')
      expect((await run('push', here, folder)).status).toBe(first === 'push' ? 0 : 3)
      expect((await site.texts())['a.txt']).toBe(first === 'push' ? 'mine' : 'theirs')
    },
  )
})

test('a push skips a name that is not UTF-8, and sends other files', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  await writeFile(Buffer.concat([Buffer.from(`${here}/caf`), Buffer.from([0xe9])]), 'latin')
  const { events, ...end } = await site.push(here)
  expect(end).toMatchObject({ create: 1, failed: 0 })
  expect(pathsOf(events, 'skipped')).toStrictEqual(['caf\ufffd'])
})
