import { expect, test } from 'vitest'
import { createRenewableClient } from '../../../console/app/renewable-client.ts'
import { siteOf } from '../support/site.ts'

test('work that began with one token can be repeated with another', async () => {
  const asked: string[] = []
  const accessWith = (token: string) =>
    siteOf({
      async createFolder(path) {
        asked.push(`${token} ${path}`)
      },
    })
  let now = accessWith('first')
  const { files } = createRenewableClient(() => now)
  await files.createFolder('a')
  now = accessWith('second')
  await files.createFolder('b')
  expect(asked).toEqual(['first a', 'second b'])
})
