import { join } from 'node:path'
import {
  type DataCentreRegions,
  deploy,
  destroy,
  findEmulator,
  outputOf,
  registerMissing,
  synthesise,
} from './emulator/emulator.ts'
import { runScript } from './run-script.ts'

// `npm run deploy:local` deploys this app to the emulator at `AWS_ENDPOINT_URL`.
const usage = `Usage: npm run deploy:local -- [--data-centres us:us-east-1,eu:eu-west-1] [--destroy]
Works on the emulator at AWS_ENDPOINT_URL (default http://127.0.0.1:4566).`

const options = {
  'data-centres': { type: 'string', default: 'us:us-east-1' },
  destroy: { type: 'boolean', default: false },
} as const

const parseDataCentres = (text: string): DataCentreRegions =>
  Object.fromEntries(
    text.split(',').map((dataCentre) => {
      const [id = '', region = ''] = dataCentre.split(':')
      return [id, { region }]
    }),
  )

process.exitCode = await runScript(usage, options, async (values) => {
  const emulator = await findEmulator((process.env['AWS_ENDPOINT_URL'] ?? 'http://127.0.0.1:4566').replace(/\/+$/, ''))
  const folder = join('.local', 'emulator')
  const dataCentres = parseDataCentres(values['data-centres'])
  const deployment = { emulator, dataCentres, folder }
  await synthesise(deployment)
  if (values.destroy) {
    await destroy(deployment)
    return 0
  }
  const outputs = await deploy(deployment)
  for (const id of await registerMissing(emulator, dataCentres, outputs)) {
    console.warn(
      `The emulator has not run the resource that registers the data centre ${id}, so this script has ` +
        'registered it.',
    )
  }
  for (const id of Object.keys(dataCentres)) console.log(outputOf(outputs, id, 'BaseUrl'))
  return 0
})
