import { afterEach, expect, test, vi } from 'vitest'
import { createTelemetry } from '../../../lib/aws/lambda/telemetry.ts'
import type { logLevels } from '../../../lib/config/config.ts'
import type { RequestRecord, Telemetry } from '../../../lib/http/request.ts'

afterEach(() => void vi.unstubAllEnvs())

/** The lines on standard output and standard error, where the platform collects logs. */
const linesOf = (tell: (telemetry: Telemetry) => void, level: (typeof logLevels)[number] = 'INFO') => {
  const lines: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
  }
  tell(createTelemetry('fields', level))
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

const arrival = { requestId: 'request-1', method: 'GET', path: '/api/v1/admin/sites/1001/webforms/1/fields/system' }
const record: RequestRecord = {
  ...arrival,
  operation: 'listFields',
  site: 1001,
  token: '0123abcd',
  status: 404,
  durationMs: 1.5,
}
const failed: RequestRecord = { ...record, status: 500, error: new TypeError('x is undefined') }

test('the log has one structured line for a request, without metrics that AWS bills', () => {
  const lines = linesOf((telemetry) => telemetry.request(record))
  expect(lines).toEqual([expect.objectContaining({ ...record, message: 'request', level: 'INFO', service: 'fields' })])
})

test('the log has an error line with the cause of a fault of the service', () => {
  const [line] = linesOf((telemetry) => telemetry.request(failed))
  const error = { name: 'TypeError', message: 'x is undefined' }
  expect(line).toMatchObject({ message: 'request', level: 'ERROR', status: 500, error })
})

test('sign-ins are counted by outcome, under the same name as on one machine (V-28)', () => {
  const [line] = linesOf((telemetry) => telemetry.signIn?.({ name: 'ann', address: '192.0.2.1', outcome: 'refused' }))
  const name = 'site_admin_sign_ins_total'
  const Metrics = [{ Name: name, Unit: 'Count' }]
  expect(line).toMatchObject({
    outcome: 'refused',
    [name]: 1,
    _aws: { Timestamp: expect.any(Number), CloudWatchMetrics: [{ Dimensions: [['outcome']], Metrics }] },
  })
})

/** Sends a request that is refused, and a request that fails. */
const tell = (telemetry: Telemetry) => {
  telemetry.arrival?.(arrival)
  telemetry.request(record)
  telemetry.request(failed)
}

test.each([
  ['DEBUG', ['DEBUG arrival', 'INFO request', 'ERROR request']],
  ['INFO', ['INFO request', 'ERROR request']],
  ['WARN', ['ERROR request']],
  ['ERROR', ['ERROR request']],
] as const)('the level %s decides which lines are written, even if Lambda filters too', (level, expected) => {
  const written = () => linesOf(tell, level).map((line) => `${line['level']} ${line['message']}`)
  expect(written()).toEqual(expected)
  vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', level)
  expect(written()).toEqual(expected)
})
