import { checkConcurrency, checkWebFunctions, wantedConcurrency } from './config/lambda-quotas.ts'
import { contextKey, settingsOfCommand } from './config/settings.ts'
import { lacksCredentials, runScript } from './run-script.ts'

// `npm run preflight` checks, before a deployment, that the account allows enough concurrent executions in each region.
// New accounts allow 10. With streaming it also compares the quotas of Web Functions. The exit status is 1 if a limit
// is too low or AWS did not answer, and 2 for wrong usage.
const usage = `Usage: npm run preflight -- [-c ${contextKey}='{…}']
Without -c, the settings are those of cdk.json.`

const options = { context: { type: 'string', short: 'c', multiple: true } } as const

process.exitCode = await runScript(usage, options, async ({ context = [] }) => {
  const settings = settingsOfCommand(context)
  const wanted = [...wantedConcurrency(settings)]
  const findings = await Promise.all(wanted.map(([region, count]) => checkConcurrency(region, count, settings))).catch(
    (error) => {
      if (!lacksCredentials(error)) throw error
      const questions = wanted.map(([region, count]) => `\n- ${region}: can ${count} functions run at once?`)
      throw Object.assign(error, { message: `${error.message}\nNo limit was checked:${questions.join('')}` })
    },
  )
  findings.push(...(await checkWebFunctions(settings)))
  for (const { message } of findings) console.log(message)
  return findings.every(({ isEnough }) => isEnough) ? 0 : 1
})
