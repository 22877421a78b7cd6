import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type DataCentreRegions,
  deploy,
  destroy,
  findEmulator,
  outputOf,
  registerMissing,
  synthesise,
} from './emulator/emulator.ts'

/** `npm run deploy:local` deploys the same app to the emulator at `AWS_ENDPOINT_URL`. */
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

// `us:us-east-1,eu:eu-west-1`. The settings of the app report mistakes.
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
  const dataCentres = parseDataCentres(values['data-centres'])
  const deployment = { emulator, dataCentres, folder }
  await synthesise(deployment)
  if (values.destroy) return destroy(deployment)
  const outputs = await deploy(deployment)
  for (const id of await registerMissing(emulator, dataCentres, outputs)) {
    console.warn(`The emulator has not run the resource that registers data centre ${id}: it is registered now.`)
  }
  for (const id of Object.keys(dataCentres)) console.log(outputOf(outputs, id, 'BaseUrl'))
}

try {
  await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
