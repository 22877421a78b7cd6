import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type DataCentreRegions, deploy, destroy, findEmulator, outputsFile, synthesise } from './emulator.ts'

/** `npm run deploy:local`: the very same app, deployed to the emulator at `AWS_ENDPOINT_URL`. */
const usage = `Usage: npm run deploy:local -- [--data-centres us:us-east-1,eu:eu-west-1] [--destroy]
Works on the emulator at AWS_ENDPOINT_URL (default http://127.0.0.1:4566).`

const readArguments = () => {
  try {
    const { values } = parseArgs({
      options: {
        'data-centres': { type: 'string', default: 'us:us-east-1' },
        destroy: { type: 'boolean', default: false },
      },
    })
    return values
  } catch {
    return undefined
  }
}

/** Reads `us:us-east-1,eu:eu-west-1`. What is wrong in it, the app's own settings say. */
const parseDataCentres = (text: string): DataCentreRegions =>
  Object.fromEntries(
    text.split(',').map((dataCentre) => {
      const [id = '', region = ''] = dataCentre.split(':')
      return [id, { region }]
    }),
  )

const run = async (): Promise<void> => {
  const values = readArguments()
  if (!values) {
    console.error(usage)
    process.exitCode = 2
    return
  }
  const emulator = await findEmulator((process.env['AWS_ENDPOINT_URL'] ?? 'http://127.0.0.1:4566').replace(/\/+$/, ''))
  const folder = join('.local', 'emulator')
  const deployment = { emulator, dataCentres: parseDataCentres(values['data-centres']), folder }
  await synthesise(deployment)
  if (values.destroy) return destroy(deployment)
  await deploy(deployment)
  const outputs: Record<string, { BaseUrl?: string }> = JSON.parse(readFileSync(outputsFile(deployment), 'utf8'))
  for (const { BaseUrl } of Object.values(outputs)) if (BaseUrl) console.log(BaseUrl)
}

try {
  await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
