import { expect } from 'vitest'
import type { Answer } from '../../support/answer.ts'

/** Checks that the error body has a code, a message and a request id, and no other member. */
export const expectError = (answer: Answer, status: number, code: number): void => {
  expect(answer).toMatchObject({ status, json: { code, requestId: answer.headers['x-request-id'] } })
  expect(answer.json.message).toMatch(/\S/)
  expect(Object.keys(answer.json)).toEqual(expect.arrayContaining(['code', 'message', 'requestId']))
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|at \S+ \(/)
}
