import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleFunction } from '../../../cdk/config/functions.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { gatewayEvent } from '../../support/lambda.ts'

/** The deployed function in a separate folder, away from the project and its packages. */
const folder = scratchDirectory(afterAll)

beforeAll(async () => {
  await bundleFunction('documentation', folder)
  Object.assign(process.env, {
    DATA_CENTRE: 'us',
    DATA_CENTRES: 'us',
    SITES_TABLE: 'sites',
    TOKENS_TABLE: 'tokens',
    AWS_REGION: 'us-east-1',
  })
})

const get = async (path: string): Promise<{ statusCode: number; body: string }> => {
  const { handler } = await import(/* @vite-ignore */ join(folder, 'index.mjs'))
  return handler(gatewayEvent(path), {})
}

test.each(['swagger-ui.css', 'swagger-ui-bundle.js'])('the bundle includes %s', async (name) => {
  const { statusCode, body } = await get(`/docs/${name}`)
  expect(statusCode).toBe(200)
  expect(body.length).toBeGreaterThan(100_000)
})
test('the bundle includes the console', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', '..', 'console', 'dist', 'index.html'), 'utf8')
  const named = [...page.matchAll(/"(console\/[^"]+)"/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(2)
  for (const path of named) expect(await get(`/${path}`)).toMatchObject({ statusCode: 200 })
})
