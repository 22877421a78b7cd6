import { describe, expect } from 'vitest'
import { storage } from '../../support/paths.ts'
import { issueToken, testWithAdmin } from '../support/admin.ts'
import { ownSiteId } from '../support/forms.ts'
import { call } from '../support/http.ts'
import { ownFolder, upload } from '../support/storage.ts'

const own = ownFolder()

describe('Progress (operation 13)', () => {
  // Each case has its own token: other cases upload meanwhile, and the service shows only the newest upload of a token.
  testWithAdmin('Progress is 0 for a token that has never uploaded (S-87)', async () => {
    const token = await issueToken([await ownSiteId()], 'files')
    expect((await call(`${storage}?status`, { token })).json).toEqual({ percent: 0 })
  })

  testWithAdmin('Progress is 100 after a successful upload (S-86, S-87)', async () => {
    const token = await issueToken([await ownSiteId()], 'files')
    await upload(`${own}/progress`, [{ name: 'a' }], { token })
    const { status, json } = await call(`${storage}?status`, { token })
    expect({ status, json }).toEqual({ status: 200, json: { percent: 100 } })
  })
})
