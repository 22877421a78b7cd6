import { SettingsError } from '../lib/config/settings.ts'
import type { Demo } from '../lib/machine/directory/demo-file.ts'
import { UsageError } from '../lib/machine/directory/failures.ts'
import { type Flags, parseFlags } from './flags.ts'
import { createLogLines, createRequestLog } from './request-log.ts'
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

const withoutDemo = (baseUrl: string): readonly string[] => [
  'There is no demo site. Make a site, unless you have one, and a token for it:',
  '  site-admin site create --name "My site"',
  '  site-admin token issue --user me --site ID --permission files',
  '',
  `The console asks for the token: ${baseUrl}/console`,
]

const welcome = ({ baseUrl, dataCentres, demo }: RunningService): string => {
  const others = Object.entries(dataCentres).filter(([, url]) => url !== baseUrl)
  return [
    `site-admin is ready at ${baseUrl}`,
    ...others.map(([id, url]) => `Data centre ${id} is at ${url}`),
    '',
    ...(demo ? demoLines(baseUrl, demo) : withoutDemo(baseUrl)),
    '',
    'Stop it with Ctrl+C.',
  ].join('\n')
}

/** The one line for programs (O-6). Without a demo it lacks its members. */
const machineWelcome = ({ baseUrl, dataCentres, demo }: RunningService): string =>
  JSON.stringify({ baseUrl, dataCentres, ...demo })

const standardError = 2

/** The service goes on when nobody reads its output any more. */
const outliveReaders = () => {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Serves until a signal ends the process (O-5). It is ready when the line with the base URL is printed, and this
 * resolves. Throws UsageError or SettingsError for what a person can put right.
 */
export const serve = async ({ quiet, log: format, json, dataDir, ...flags }: Flags): Promise<void> => {
  const lines = createLogLines(standardError)
  process.on('exit', lines.flush)
  outliveReaders()
  const say = (sentence: string) => console.error(sentence)
  const telemetry = createRequestLog(lines, { quiet, format })
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
  console.log(json ? machineWelcome(service) : welcome(service))
}

export const start = async (argv: readonly string[]): Promise<void> => {
  try {
    await serve(parseFlags(argv))
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SettingsError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
