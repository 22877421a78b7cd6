import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { contextKey, hasDistributions, onEdge, settingsOfCommand } from '../../cdk/config/settings.ts'
import { runScript } from '../../cdk/run-script.ts'
import { readStackOutputs } from '../../lib/aws/stack-outputs.ts'

/**
 * `npm run deploy:watched` deploys the data centres one after the other, in the order of the settings. If an alarm goes
 * off, CloudFormation rolls this data centre back, and later ones are not deployed.
 */
const usage = `Usage: npm run deploy:watched -- [--minutes 15] [-c ${contextKey}='{…}']
CloudFormation watches the alarms of a data centre for that time after its deployment: 0 to 180 minutes.`

const options = {
  context: { type: 'string', short: 'c', multiple: true },
  minutes: { type: 'string', default: '15' },
} as const

process.exitCode = await runScript(usage, options, async ({ context = [], minutes }) => {
  const settings = settingsOfCommand(context)
  const nameOf = (stack: string) => `${settings.prefix}-${stack}`
  const deploy = async (...args: readonly string[]): Promise<number> => {
    const passed = context.flatMap((text) => ['--context', text])
    const [status] = await once(spawn('cdk', ['deploy', ...args, ...passed], { stdio: 'inherit' }), 'exit')
    return status ?? 1
  }
  const status = await deploy(...['directory', ...(onEdge(settings).length > 0 ? ['edge'] : [])].map(nameOf))
  if (status !== 0) return status
  for (const [id, { region }] of Object.entries(settings.dataCentres)) {
    const { outputs } = await readStackOutputs(nameOf(id), region)
    const alarms = outputs?.get('RollbackAlarms')?.split(' ')
    if (!alarms) console.log(`${nameOf(id)} has no alarms yet: nothing watches this deployment.`)
    const triggers = alarms?.flatMap((arn) => ['--rollback-trigger-alarm-arns', arn])
    const watch = triggers ? [...triggers, '--monitoring-time-minutes', minutes] : []
    const outcome = await deploy(nameOf(id), '--exclusively', ...watch)
    if (outcome !== 0) return outcome
  }
  return hasDistributions(settings) ? deploy(nameOf('watch'), '--exclusively') : 0
})
