import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { takeLock } from '../../../lib/machine/directory/directory-locks.ts'
import { versionOf } from '../../../lib/machine/sqlite/schema.ts'
import { administer } from '../../support/administration.ts'
import { makeEarlier } from '../../support/earlier-tables.ts'
import { test } from '../../support/test.ts'

test('commands convert the database of an earlier version, but not under a service that runs on it', async ({
  siteDirectory,
}) => {
  const { database: file, locks } = layoutOf(siteDirectory)
  const database = new DatabaseSync(file)
  makeEarlier(database)
  // What holds this is a service, for everybody else.
  const service = takeLock(locks.service, 'exclusive')
  expect(await administer(siteDirectory, ['backup', `${siteDirectory}-backup`])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^A service of an earlier version runs on .+\. Nothing was changed\.\n$/),
  })
  expect(versionOf(database)).toBe(1)
  service?.release()
  expect(await administer(siteDirectory, ['site', 'list'])).toMatchObject({ status: 0, stderr: '' })
  expect(versionOf(database)).toBeGreaterThan(1)
  database.close()
})
