import { resolve } from 'node:path'
import { escapeControls } from '../client/src/command/format-text.ts'
import { SettingsError } from '../lib/config/settings.ts'
import { howMany } from '../lib/core/names.ts'
import type { Demo } from '../lib/machine/directory/demo-file.ts'
import { databaseFailure, UsageError } from '../lib/machine/directory/faults.ts'
import type { Reset } from '../lib/machine/directory/open-directory.ts'
import { type Flags, parseFlags } from './flags.ts'
import { createRequestLog, logInJson, settleLog } from './request-log.ts'
import { type RunningService, startService } from './service.ts'

// The printed lines work when a user pastes them into a shell.
const demoLines = (baseUrl: string, demo: Demo, firstPerson: readonly string[]): readonly string[] => {
  const forms = `/api/v1/admin/sites/current/webforms`
  const fields = `${forms}/${demo.webFormId}/fields/system`
  const news = `/webresources/api/v3/sites/current/categories/${demo.categoryIds[0]}/news`
  return [
    `Site   ${demo.siteId}`,
    `Token  ${demo.token}`,
    '',
    'Open the console, signed in:',
    `${baseUrl}/console#token=${demo.token}`,
    ...firstPerson,
    '',
    'Try it:',
    `  export BASE=${baseUrl} TOKEN=${demo.token}`,
    ...[
      `$BASE${forms}`,
      `$BASE${fields}`,
      `-H 'Content-Type: application/json' -d '{"type":{"id":-7},"mandatory":true,"order":2}' $BASE${fields}`,
      `-H 'Accept: application/xml' $BASE${fields}/-7`,
      `-X DELETE $BASE${fields}/-7`,
      `"$BASE${news}?limit=3&fields=objectId,news(subject,releaseDate)"`,
      `-G --data-urlencode "where={'news.deleted': false, releaseDate: {\\$gte: '2026-01-01'}}" -d order=-releaseDate $BASE${news}`,
      `-H 'Content-Type: application/json' -d '{"items":[{"objectId":2}]}' $BASE${news}`,
      `-X DELETE "$BASE${news}?items=2"`,
    ].map((request) => `  curl -s -H "Authorization: $TOKEN" ${request}`),
  ]
}

const addOwner = (admin: string, site: number | string): string => `${admin} user add NAME --site ${site} --role owner`

const withoutDemo = (baseUrl: string, admin: string): readonly string[] => [
  'Create a site if you have none, and then a token or a person for the site. The first command prints the ID:',
  `  ${admin} site create --name "My site"`,
  `  ${admin} token issue --user me --site ID --permission files`,
  `  ${addOwner(admin, 'ID')}`,
  '',
  `The console asks for the token, or the name and the password: ${baseUrl}/console`,
]

const readyLines = ({ dataCentres, listening, metricsUrl }: RunningService): readonly string[] => [
  ...Object.entries(dataCentres).map(([id, url], index) => {
    const what = index === 0 ? 'site-admin is ready' : `Data centre ${id} is`
    return `${what} at ${url} (listening on ${listening[id]})`
  }),
  ...(metricsUrl === undefined ? [] : [`Metrics are at ${metricsUrl}`]),
]

const welcome = (service: RunningService, admin: string): string => {
  const { baseUrl, demo, hasPeople } = service
  const firstPerson = demo && hasPeople === false ? [`Add the first person: ${addOwner(admin, demo.siteId)}`] : []
  const next = demo ? demoLines(baseUrl, demo, firstPerson) : withoutDemo(baseUrl, admin)
  return [...readyLines(service), '', ...next, '', 'Stop it with Ctrl+C.'].join('\n')
}

// Asks for a confirmation on a terminal. Throws if there is no terminal (O-11).
const confirmReset =
  (dataDirectory: string): Reset =>
  async (contents) => {
    const directory = resolve(dataDirectory)
    const loss = contents
      ? `${howMany(contents.sites, 'site')} with ${howMany(contents.files, 'file')} from ${directory}`
      : `all data from ${directory} (its database cannot be read)`
    const { askYesNo } = await import('../client/src/command/ask.ts')
    const agrees =
      process.stderr.isTTY && (await askYesNo(escapeControls(`This removes ${loss}. Continue?`)).catch(() => false))
    if (agrees) return
    throw new UsageError(`Nothing was removed. --reset removes ${loss}: run it in a terminal to confirm, or add --yes.`)
  }

/**
 * Serves until a signal ends the process (O-5). Resolves when the service is ready and the line with the base URL is
 * printed. `admin` is the text that starts a command of site-admin. Throws UsageError or SettingsError for faults that
 * a user can correct.
 */
export const serve = async (given: Flags, admin: string): Promise<void> => {
  const { quiet, log: format, json, dataDir, yes, ...flags } = given
  // The service continues when nobody reads its output.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const say = (sentence: string) => console.error(escapeControls(sentence))
  const telemetry = createRequestLog(quiet, format)
  const reset = flags.reset && (yes ? async () => {} : confirmReset(dataDir))
  const service = await startService({ ...flags, dataDirectory: dataDir, reset, telemetry, say })
  const stop = async () => {
    process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop)
    // A terminal that closes may send SIGHUP twice: from the shell, and from the system.
    process.on('SIGHUP', () => {})
    try {
      await service.stop()
    } catch (error) {
      console.error('The service did not stop cleanly:', error)
      process.exitCode = 1
    }
    await settleLog()
    process.exit()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop)
  if (format === 'json') for (const line of readyLines(service)) say(line)
  const { baseUrl, dataCentres, listening, metricsUrl, demo } = service
  const isBehindProxy = flags.dataCentres.some((dataCentre) => dataCentre.baseUrl !== undefined)
  // O-6: JSON leaves out members that have no value.
  const forPrograms = { baseUrl, dataCentres, ...(isBehindProxy && { listening }), metrics: metricsUrl, ...demo }
  const directory = escapeControls(resolve(dataDir)).replaceAll("'", "'\\''")
  console.log(json ? JSON.stringify(forPrograms) : welcome(service, `${admin} --data-dir '${directory}'`))
}

export const start = async (argv: readonly string[]): Promise<void> => {
  logInJson()
  try {
    await serve(parseFlags(argv), 'npm run --silent admin --')
  } catch (error) {
    const isUsage = error instanceof UsageError || error instanceof SettingsError
    const message = isUsage ? error.message : databaseFailure(error)
    if (message === undefined) throw error
    console.error(escapeControls(message))
    process.exitCode = 1
  }
}
