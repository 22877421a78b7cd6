import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { contextKey, hasDistributions, onEdge, settingsOfCommand } from '../../cdk/config/settings.ts'
import { runScript } from '../../cdk/run-script.ts'
import { readStackOutputs } from '../../lib/aws/stack-outputs.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { howMany } from '../../lib/core/names.ts'

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

// All data centres get the same version, also if a file of the project changes during the deployment.
const assembly = join('.cache', 'watched')

const cdk = async (...args: readonly string[]): Promise<number> => {
  const [status] = await once(spawn('cdk', args, { stdio: 'inherit' }), 'exit')
  return status ?? 1
}

const readAlarms = async (stack: string, region: string): Promise<readonly string[] | undefined> => {
  try {
    const { outputs } = await readStackOutputs(stack, region)
    return outputs?.get('RollbackAlarms')?.split(' ')
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new Error(`CloudFormation in ${region} does not answer. Check your network, and repeat the command.`, {
      cause,
    })
  }
}

const deploy = (...args: readonly string[]) => cdk('deploy', '--app', assembly, ...args)

process.exitCode = await runScript(usage, options, async ({ context = [], minutes }) => {
  const settings = settingsOfCommand(context)
  if (!/^\d+$/.test(minutes) || Number(minutes) > 180)
    throw new Error('--minutes must be a whole number from 0 to 180. Nothing was deployed.')
  const nameOf = (stack: string) => `${settings.prefix}-${stack}`
  const dataCentres = await Promise.all(
    Object.entries(settings.dataCentres).map(async ([id, { region }]) => {
      const stack = nameOf(id)
      return { stack, region, alarms: await readAlarms(stack, region) }
    }),
  )
  // Ctrl+C also reaches the CDK, which then fails.
  process.on('SIGINT', () => {})
  const built = await cdk('synth', '--quiet', '--output', assembly, ...context.flatMap((text) => ['--context', text]))
  if (built !== 0) return built
  const status = await deploy(...['directory', ...(onEdge(settings).length > 0 ? ['edge'] : [])].map(nameOf))
  if (status !== 0) return status
  for (const [index, { stack, region, alarms }] of dataCentres.entries()) {
    const triggers = alarms?.flatMap((arn) => ['--rollback-trigger-alarm-arns', arn])
    const watch = triggers ? [...triggers, '--monitoring-time-minutes', minutes] : []
    const time = howMany(Number(minutes), 'minute')
    const watching = `CloudFormation watches ${alarms?.length} alarms until ${time} after the deployment.`
    console.log(alarms ? `${stack}: ${watching}` : `${stack} has no alarms yet: nothing watches this deployment.`)
    const outcome = await deploy(stack, '--exclusively', ...watch)
    if (outcome === 0) continue
    const later = dataCentres.slice(index + 1).map((dataCentre) => dataCentre.stack)
    console.error(
      `The deployment of ${stack} has failed or was interrupted. These stacks keep their version: ${later.join(', ') || 'none'}.\n` +
        `If CloudFormation is still updating ${stack}, it continues. To roll this update back, run:\n` +
        `  aws cloudformation cancel-update-stack --region ${region} --stack-name ${stack}`,
    )
    return outcome
  }
  return hasDistributions(settings) ? deploy(nameOf('watch'), '--exclusively') : 0
})
