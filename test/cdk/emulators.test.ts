import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { findEmulator } from '../../cdk/deploy-local.ts'
import { listenInTest } from '../support/listen.ts'

const paths = { MiniStack: ['/_ministack/health', '/_localstack/health'], LocalStack: ['/_localstack/health'] } as const

/** An emulator that answers at these paths, and drops some connections first. */
const startEmulator = (known: readonly string[], dropped = 0): Promise<string> => {
  let left = dropped
  return listenInTest(
    createServer(({ url = '', socket }, response) => {
      if (left-- > 0) socket.destroy()
      else response.writeHead(known.includes(url) ? 200 : 404).end()
    }),
  )
}

test.each(['MiniStack', 'LocalStack'] as const)('%s is recognised by its health page', async (name) => {
  expect(await findEmulator(await startEmulator(paths[name]))).toMatchObject({ name })
})

test('An emulator that is still starting is not taken for another one', async () => {
  const endpoint = await startEmulator(paths.MiniStack, 1)
  await expect(findEmulator(endpoint)).rejects.toThrow(endpoint)
})
