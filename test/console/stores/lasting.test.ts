import { expect, test } from 'vitest'
import { lastingClient } from '../../../console/app/lasting.ts'
import { siteOf } from '../support/site.ts'

test('work that started with one token is repeated with the current one', async () => {
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
