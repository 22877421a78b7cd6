import { type ErrorName, ServiceError } from '../core/errors.ts'

/** The refusals of an operation in the order of its checks. A refusal that does not apply is false or undefined. */
export type Refusals = readonly (ErrorName | ServiceError | false | undefined)[]

export const refusalIn = (refusals: Refusals): ServiceError | undefined => {
  const first = refusals.find(Boolean)
  return typeof first === 'string' ? new ServiceError(first) : first || undefined
}

export const refuse = (refusals: Refusals): void => {
  const refusal = refusalIn(refusals)
  if (refusal) throw refusal
}

export const storageRefused = (message: string): ServiceError => new ServiceError('storageRefused', { message })
