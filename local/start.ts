import { resolve } from 'node:path'
import { SettingsError } from '../lib/config/settings.ts'
import { visible } from '../lib/core/visible.ts'
import type { Demo } from '../lib/machine/directory/demo-file.ts'
import { UsageError } from '../lib/machine/directory/failures.ts'
import { type Flags, parseFlags } from './flags.ts'
import { createRequestLog, log, logInJson } from './request-log.ts'
import { confirmReset } from './reset.ts'
import { type RunningService, startService } from './service.ts'

/** Lines that work when pasted. */
const demoLines = (baseUrl: string, demo: Demo): readonly string[] => {
  const forms = `/api/v1/admin/sites/current/webforms`
  const fields = `${forms}/${demo.webFormId}/fields/system`
  const news = `/webresources/api/v3/sites/current/categories/${demo.categoryIds[0]}/news`
  return [
    `Site   ${demo.siteId}`,
    `Token  ${demo.token}`,
    '',
    'Open the console, signed in:',
    `${baseUrl}/console#token=${demo.token}`,
    '',
    'Try it:',
    `  BASE=${baseUrl} TOKEN=${demo.token}`,
    `  curl -s -H "Authorization: $TOKEN" $BASE${forms}`,
    `  curl -s -H "Authorization: $TOKEN" $BASE${fields}`,
    `  curl -s -H "Authorization: $TOKEN" -H 'Content-Type: application/json' -d ` +
      `'{"type":{"id":-7},"mandatory":true,"order":2}' $BASE${fields}`,
    `  curl -s -H "Authorization: $TOKEN" -H 'Accept: application/xml' $BASE${fields}/-7`,
    `  curl -s -H "Authorization: $TOKEN" -X DELETE $BASE${fields}/-7`,
    `  curl -s -H "Authorization: $TOKEN" "$BASE${news}?limit=3&fields=objectId,news(subject,releaseDate)"`,
    `  curl -s -H "Authorization: $TOKEN" -G --data-urlencode "where={'news.deleted': false, releaseDate: {\\$gte: ` +
      `'2026-01-01'}}" -d order=-releaseDate $BASE${news}`,
    `  curl -s -H "Authorization: $TOKEN" -H 'Content-Type: application/json' -d '{"items":[{"objectId":2}]}' ` +
      `$BASE${news}`,
    `  curl -s -H "Authorization: $TOKEN" -X DELETE "$BASE${news}?items=2"`,
  ]
}

const withoutDemo = (baseUrl: string, admin: string): readonly string[] => [
  'Create a site, unless you have one, and a token for it. The first command prints the ID:',
  `  ${admin} site create --name "My site"`,
  `  ${admin} token issue --user me --site ID --permission files`,
  '',
  `The console asks for the token: ${baseUrl}/console`,
]

/** The base URL, and the address that it hides. */
const placeOf = ({ dataCentres, listening }: RunningService, id: string): string =>
  dataCentres[id] === `http://${listening[id]}`
    ? `${dataCentres[id]}`
    : `${dataCentres[id]} (listening on ${listening[id]})`

/** `admin` is what commands on the same data directory begin with. */
const welcome = (service: RunningService, admin: string): string => {
  const { baseUrl, dataCentres, demo } = service
  const [home = '', ...others] = Object.keys(dataCentres)
  return [
    `site-admin is ready at ${placeOf(service, home)}`,
    ...others.map((id) => `Data centre ${id} is at ${placeOf(service, id)}`),
    '',
    ...(demo ? demoLines(baseUrl, demo) : withoutDemo(baseUrl, admin)),
    '',
    'Stop it with Ctrl+C.',
  ].join('\n')
}

/** The one line for programs (O-6). It lacks what a base URL tells, and the members of a demo that is not there. */
const machineWelcome = ({ baseUrl, dataCentres, listening, demo }: RunningService, isBehindProxy: boolean): string =>
  JSON.stringify({ baseUrl, dataCentres, ...(isBehindProxy && { listening }), ...demo })

/** The line of the log, without a token. */
const readyLine = ({ baseUrl, dataCentres, listening }: RunningService): string =>
  JSON.stringify({ time: new Date().toISOString(), message: 'The service is ready.', baseUrl, dataCentres, listening })

/** The service goes on when nobody reads its output any more. */
const outliveReaders = () => {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/**
 * Serves until a signal ends the process (O-5). It is ready when the line with the base URL is printed, and this
 * resolves. `admin` starts the commands of site-admin. Throws UsageError or SettingsError for what a person can put
 * right.
 */
export const serve = async (
  { quiet, log: format, json, dataDir, yes, ...flags }: Flags,
  admin: string,
): Promise<void> => {
  process.on('exit', log.flush)
  outliveReaders()
  if (flags.reset && !yes) await confirmReset(dataDir)
  const say = (sentence: string) => console.error(sentence)
  const telemetry = createRequestLog(log, { quiet, format })
  const service = await startService({ ...flags, dataDirectory: dataDir, telemetry, say })
  const stop = () => {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error('The service did not stop cleanly:', error)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  if (format === 'json') {
    log.write(readyLine(service))
    log.flush()
  }
  const isBehindProxy = flags.dataCentres.some(({ baseUrl }) => baseUrl !== undefined)
  const commands = `${admin} --data-dir ${quoted(resolve(dataDir))}`
  console.log(json ? machineWelcome(service, isBehindProxy) : welcome(service, commands))
}

/** What `npm start` does. */
export const start = async (argv: readonly string[]): Promise<void> => {
  logInJson()
  try {
    await serve(parseFlags(argv), 'npm run --silent admin --')
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SettingsError)) throw error
    console.error(visible(error.message))
    process.exitCode = 1
  }
}
