import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, createServer, type Server as TcpServer } from 'node:net'
import { onTestFinished, vi } from 'vitest'

export const listen = async (server: TcpServer): Promise<string> => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const freePort = async (): Promise<number> => {
  const server = createServer()
  const { port } = new URL(await listen(server))
  server.close()
  return Number(port)
}

export const isListening = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

export const closeAtOnce = (server: Server): void => {
  server.closeAllConnections()
  server.close()
}

export const listenInTest = (server: Server): Promise<string> => {
  onTestFinished(() => closeAtOnce(server))
  return listen(server)
}

/** Answers the SDK in place of AWS, until the end of the test, or until `closes` says so. */
export const answerInPlaceOfAws = async (
  listener: RequestListener,
  closes: (close: () => void) => unknown = onTestFinished,
): Promise<void> => {
  const server = createHttpServer(listener)
  const keys = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
  for (const [name, value] of Object.entries({ AWS_ENDPOINT_URL: await listen(server), ...keys })) {
    vi.stubEnv(name, value)
  }
  closes(() => {
    vi.unstubAllEnvs()
    closeAtOnce(server)
  })
}
