import { expect } from 'vitest'
import type { Outcome } from './program.ts'

const like = (text: RegExp | string) =>
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)

/** The outcome of a command that prints only this message. */
export const failing = (message: RegExp | string) => ({ status: 1, stdout: '', stderr: like(message) })

export const faultAt = (where: RegExp | string, fault: RegExp | string) => ({
  where: typeof where === 'string' ? where : like(where),
  fault: like(fault),
})

/** The exit status of `site-admin --json check`, and the faults that it prints. */
export const foundBy = ({ status, stdout }: Pick<Outcome, 'status' | 'stdout'>) => ({ status, ...JSON.parse(stdout) })
