/** So many bytes, as they come from a socket. */
export async function* bytes(length: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  for (let sent = 0; sent < length; sent += chunk.length) yield chunk
}
