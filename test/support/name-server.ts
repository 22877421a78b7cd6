import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** A DNS server for one test: answers each question for an IPv4 address with the next of these addresses, if any. */
export const openNameServer = async (addresses: readonly string[]) => {
  const socket = createSocket('udp4')
  let asked = 0
  socket.on('message', (question, { port, address }) => {
    const typeAt = question.indexOf(0, 12) + 1
    const asksForIpv4 = question.readUInt16BE(typeAt) === 1
    const answer = asksForIpv4 ? addresses[Math.min(asked, addresses.length - 1)] : undefined
    if (asksForIpv4) asked += 1
    const head = Buffer.from(question.subarray(0, typeAt + 4))
    head.writeUInt16BE(0x81_80, 2)
    head.writeUInt32BE(answer ? 0x1_00_00 : 0, 6)
    head.writeUInt16BE(0, 10)
    head.writeUInt16BE(answer ? 1 : 0, 6)
    const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...(answer ?? '').split('.').map(Number)])
    socket.send(Buffer.concat([head, ...(answer ? [record] : [])]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked: () => asked }
}
