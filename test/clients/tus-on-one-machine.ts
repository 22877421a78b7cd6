import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SpawnedService, startService } from '../support/spawned-service.ts'
import { openTusClients, type TusClients, type Wanted } from './tus-clients.ts'

const mebibyte = 1024 * 1024

/** The file is large enough for a kill in the middle of one request. */
const size = 48 * mebibyte
const half = size / 2

/** Clients are killed after these bytes. A fast machine has sent many more when a client reports them. */
const soon = size / 8

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

const wantedFrom = ({ baseUrl, token }: SpawnedService, name: string): Wanted => ({
  endpoint: `${baseUrl}/api/v2/admin/sites/current/storage/tus`,
  token,
  name,
  content: randomBytes(size),
})

/** Throws an Error if the file differs, or if the upload started again. */
const check = async (service: SpawnedService, { name, content, token }: Wanted, resumedAt: number) => {
  const headers = { Authorization: token }
  const file = await service.request(`/api/v2/admin/sites/current/storage/tus/${name}`, { headers })
  const stored = md5(Buffer.from(await file.arrayBuffer()))
  if (stored !== md5(content)) throw new Error(`${name} differs from the sent file (${file.status})`)
  if (!(resumedAt > 0 && resumedAt < size)) throw new Error(`${name} continued at ${resumedAt}`)
}

const killClients = async (service: SpawnedService, { clients }: TusClients): Promise<void> => {
  for (const [client, upload] of Object.entries(clients)) {
    const wanted = wantedFrom(service, `${client.replaceAll(' ', '-')}.bin`)
    const resumedAt = await upload(wanted, soon)
    await check(service, wanted, resumedAt)
    console.log(`${client} was killed, and continued at ${resumedAt} of ${size} bytes.`)
  }
}

const guide = join(import.meta.dirname, '..', '..', 'docs', 'api.md')

/** Runs the scripts of the guide unchanged. */
const runDocumented = async (service: SpawnedService, { run }: TusClients): Promise<void> => {
  const [, large = ''] = readFileSync(guide, 'utf8').split('### Large files')
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-guide-'))
  const scripts = { js: 'documented.mjs', python: 'documented.py' } as const
  for (const language of ['js', 'python'] as const) {
    const [, script] = new RegExp(`^\`{3}${language}\n(.*?)^\`{3}$`, 'ms').exec(large) ?? []
    if (script === undefined) throw new Error(`The guide has no script in ${language}`)
    const film = randomBytes(9 * mebibyte)
    writeFileSync(join(folder, 'film.mp4'), film)
    await run(scripts[language], script, folder, { BASE: service.baseUrl, TOKEN: service.token })
    const stored = await service.request('/api/v2/admin/sites/current/storage/films/film.mp4')
    if (md5(Buffer.from(await stored.arrayBuffer())) !== md5(film))
      throw new Error(`The script of the guide in ${language} is wrong`)
    console.log(`The script of the guide in ${language} works.`)
  }
  rmSync(folder, { recursive: true })
}

/** The client continues when the service is back. Returns the new process of the service. */
const killService = async (
  service: SpawnedService,
  { uploadAndKill }: TusClients,
  restart: () => Promise<SpawnedService>,
): Promise<SpawnedService> => {
  const wanted = wantedFrom(service, 'service-killed.bin')
  const uploading = uploadAndKill(wanted, service.pid, half)
  await Promise.race([service.ended, uploading])
  const next = await restart()
  const resumedAt = await uploading
  await check(next, wanted, resumedAt)
  console.log(`tus-js-client continued at ${resumedAt} of ${size} bytes when the service was back.`)
  return next
}

/** Uploads with every tus client, and kills clients and service. Throws an Error if bytes are lost. */
export const useTusClients = async (dataDirectory: string): Promise<void> => {
  const first = await startService(dataDirectory, ['--port', '0', '--quiet'])
  const { port } = new URL(first.baseUrl)
  let service = first
  const clients = await openTusClients()
  try {
    await runDocumented(service, clients)
    await killClients(service, clients)
    service = await killService(service, clients, () => startService(dataDirectory, ['--port', port, '--quiet']))
  } finally {
    await clients.close()
    await service.stop()
  }
}
