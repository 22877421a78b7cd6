import { expect, test } from 'vitest'
import { lastingClient } from '../../../console/app/lasting.ts'
import { siteOf } from '../support/site.ts'

test('what was begun with one token goes on with the one that there is when it is repeated', async () => {
  const asked: string[] = []
  const accessWith = (token: string) =>
    siteOf({
      async createFolder(path) {
        asked.push(`${token} ${path}`)
      },
    })
  let now = accessWith('first')
  const { files } = lastingClient(() => now)
  await files.createFolder('a')
  now = accessWith('second')
  await files.createFolder('b')
  expect(asked).toEqual(['first a', 'second b'])
})
