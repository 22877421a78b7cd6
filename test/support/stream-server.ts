import { once } from 'node:events'
import { connect } from 'node:net'
import { onTestFinished, type TestContext } from 'vitest'
import { createStreamServer } from '../../functions/entries/stream/stream-server.ts'
import { issueGrant } from '../../lib/access/grants.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { systemClock } from '../../lib/core/time.ts'
import type { RequestRecord } from '../../lib/http/request.ts'
import { createLinkTo } from '../../local/downloads.ts'
import { closerOf } from '../../server/server.ts'
import { openTestFiles } from './files.ts'
import { entry } from './history.ts'
import { listen } from './listen.ts'

export const [present, former] = ['p'.repeat(32), 'f'.repeat(32)] as const
export const largestFile = 6 * 1024 * 1024

/** Tests that run at once pass their own context. */
type Cleanup = Pick<TestContext, 'onTestFinished'>

/** The server of the Web Function over the stores of one machine, and the requests that it has recorded. */
export const openStream = async (test: Cleanup = { onTestFinished }) => {
  const files = await openTestFiles()
  const { sites, grants } = files.stores
  const expires = Math.floor(Date.now() / 1000) + 3600
  /** Creates a data centre with a site. Returns a token for the files of that site. */
  const openDataCentre = async (id: string, site: SiteId): Promise<string> => {
    await sites.putDataCentre({ id, url: `https://${id}.example.com`, isDefault: id === 'us' })
    await sites.createSite({ id: site, name: 'Shop', dataCentre: id, renderingEngine: true }, entry)
    return (await issueGrant(grants, { user: 'ann', sites: [site], permissions: ['files'], expires })).token
  }
  const token = await openDataCentre('us', 1001 as SiteId)
  const distantToken = await openDataCentre('eu', 2001 as SiteId)
  const records: RequestRecord[] = []
  const { reservedFolders, largestResumableFile } = files.deps
  const server = createStreamServer(
    { dataCentre: 'us', largestFile, largestResumableFile, reservedFolders, originSecrets: [present, former] },
    files.stores,
    {
      telemetry: { request: (record) => void records.push(record) },
      linkTo: createLinkTo(files.linkSecret, systemClock),
    },
  )
  const close = closerOf(server, 0)
  const url = await listen(server)
  test.onTestFinished(async () => {
    await close()
    await files.close()
  })
  return { url, token, distantToken, records }
}

export const fromDistribution = { 'X-Origin-Secret': present }

/** A connection that counts received bytes, and sends a request piece by piece. */
export const connectTo = async (url: string, test: Cleanup = { onTestFinished }) => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => {})
  test.onTestFinished(() => void socket.destroy())
  return { socket, text: () => Buffer.concat(received).toString('latin1') }
}
