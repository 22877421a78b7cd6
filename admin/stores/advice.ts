import { SettingsError } from '../../lib/config/settings.ts'
import { errors, ServiceError } from '../../lib/core/errors.ts'
import { databaseFailure, UsageError } from '../../lib/machine/directory/faults.ts'
import { Refusal } from '../terminal/output.ts'

// Credentials are missing, wrong or expired, or lack permissions.
const rightsErrors: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
])

// Their messages tell what to do.
const inWords = [Refusal, UsageError, SettingsError, ServiceError] as const

/** A sentence that tells the user how to fix the failure; undefined if the user cannot. */
export const adviceOn = (error: unknown): string | undefined => {
  if (error instanceof ServiceError && error.code === errors.unavailable.code) {
    return 'The store is busy or does not answer. Repeat the command: repeating is safe.'
  }
  if (!(error instanceof Error)) return undefined
  if (inWords.some((kind) => error instanceof kind)) return error.message
  const failure = databaseFailure(error)
  if (failure !== undefined) return failure
  if (!rightsErrors.has(error.name)) return undefined
  return `AWS refuses this: ${error.message.replace(/\.$/, '')}. Check your credentials and their permissions.`
}
