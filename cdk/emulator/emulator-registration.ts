import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DataCentreRegions, type Emulator, emulatorEnvironment, type Outputs, outputOf } from './emulator.ts'

const runFile = promisify(execFile)
const administration = [join('admin', 'main.js'), '--target', 'aws', '--json']

interface Registered {
  readonly id: string
  readonly url: string
}

/**
 * Registers the data centres that a deployment missed or registered under another address: LocalStack without an
 * account does not run custom resources. Returns their ids.
 */
export const registerMissing = async (
  emulator: Emulator,
  dataCentres: DataCentreRegions,
  outputs: Outputs,
): Promise<string[]> => {
  const [home] = Object.values(dataCentres)
  const env = emulatorEnvironment(emulator, home?.region ?? '')
  const administer = async (...args: readonly string[]) =>
    JSON.parse((await runFile(process.execPath, [...administration, ...args], { env })).stdout)

  const registered: readonly Registered[] = await administer('data-centre', 'list')
  const missing = Object.entries(dataCentres)
    .map(([id, { region }]) => ({ id, region, url: outputOf(outputs, id, 'BaseUrl') }))
    .filter(({ id, url }) => !registered.some((known) => known.id === id && known.url === url))
  // One after the other: the first one of all is the default.
  for (const { id, url, region } of missing)
    await administer('data-centre', 'add', id, '--url', url, '--region', region)
  return missing.map(({ id }) => id)
}
