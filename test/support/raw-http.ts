import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'

/** A connection on which a test sends any bytes, well-formed or not. */
const over = (socket: Socket) => {
  const chunks: AsyncIterator<string> = socket.setEncoding('latin1')[Symbol.asyncIterator]()
  let received = ''
  // A reset also ends the connection, and the bytes before it count.
  socket.on('error', () => {})
  const more = async (): Promise<boolean> => {
    try {
      const { value, done } = await chunks.next()
      if (done) return false
      received += value
      return true
    } catch {
      return false
    }
  }
  return {
    /** Resolves when everything is sent. Rejects if the other side accepts no more bytes. */
    write: (text: string) =>
      new Promise<void>((resolve, reject) => socket.write(text, (error) => (error ? reject(error) : resolve()))),
    /** Ends the sending side. Answers can still be read. */
    end: () => void socket.end(),
    /** Everything received, as soon as it matches. Rejects if the other side ends the connection first. */
    async until(pattern: RegExp) {
      while (!pattern.test(received)) {
        if (!(await more())) throw new Error(`The connection ended before ${pattern} came: ${received}`)
      }
      return received
    },
    /** Everything received until the other side ends the connection. */
    async rest() {
      while (await more());
      return received
    },
    destroy: () => void socket.destroy(),
  }
}

export type RawConnection = ReturnType<typeof over>

export const rawConnection = async ({ url }: { readonly url: string }) => {
  const { protocol, hostname, port } = new URL(url)
  const to = { host: hostname, port: Number(port) }
  const isSecure = protocol === 'https:'
  const socket = isSecure ? connectSecurely({ ...to, rejectUnauthorized: false }) : connect(to)
  await once(socket, isSecure ? 'secureConnect' : 'connect')
  return over(socket)
}

/** The text of a request, with the `Host` that HTTP/1.1 requires. */
export const requestText = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number>> = {},
  body = '',
): string => {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/**
 * Sends a text over a new connection, and then may end the sending side. Returns everything received until the other
 * side ends the connection.
 */
export const sendText = async (url: string, text: string, thenEnd = false): Promise<string> => {
  const connection = await rawConnection({ url })
  await connection.write(text)
  if (thenEnd) connection.end()
  return connection.rest()
}

const statusLine = /HTTP\/1\.1 (\d{3}) /g

/** The last answer in the received text: status, headers by lower-case name, body. */
export const lastAnswer = (received: string) => {
  const last = [...received.matchAll(statusLine)].at(-1)
  const [head = '', body = ''] = received.slice(last?.index).split(/\r\n\r\n(.*)/s)
  const [, ...lines] = head.split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    headers[name.toLowerCase()] = value
  }
  return { status: Number(last?.[1]), headers, body }
}
