import { afterEach, describe, expect, test, vi } from 'vitest'
import { createTelemetry } from '../../../lib/aws/telemetry.ts'
import type { RequestRecord } from '../../../lib/http/request.ts'

afterEach(() => vi.restoreAllMocks())

/** The lines on standard output and standard error, where the platform picks up logs and metrics. */
const linesOf = (record: RequestRecord): Record<string, unknown>[] => {
  const lines: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
  }
  createTelemetry('fields', 'INFO').request(record)
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

const record: RequestRecord = {
  requestId: 'request-1',
  operation: 'listFields',
  method: 'GET',
  path: '/api/v1/admin/sites/1001/webforms/1/fields/system',
  site: 1001,
  status: 404,
  durationMs: 1.5,
}

describe('a request in the log', () => {
  test('is one structured line', () => {
    const [line, ...others] = linesOf(record).filter((each) => each['message'] === 'request')
    expect(others).toEqual([])
    expect(line).toMatchObject({ ...record, level: 'INFO', service: 'fields' })
  })

  test('is an error line with its cause when the service is at fault', () => {
    const lines = linesOf({ ...record, status: 500, error: new TypeError('x is undefined') })
    expect(lines.find((each) => each['message'] === 'request')).toMatchObject({
      level: 'ERROR',
      status: 500,
      error: { name: 'TypeError', message: 'x is undefined' },
    })
  })
})

describe('a request in the metrics', () => {
  test.each([
    [200, 0, 0],
    [399, 0, 0],
    [400, 1, 0],
    [499, 1, 0],
    [500, 0, 1],
    [503, 0, 1],
  ])('with status %i counts %i as a client error and %i as a server error', (status, clientError, serverError) => {
    const metrics = linesOf({ ...record, status }).find((each) => '_aws' in each)
    expect(metrics).toMatchObject({
      service: 'fields',
      operation: 'listFields',
      duration: 1.5,
      clientError,
      serverError,
    })
  })
})
