import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ServiceError } from '../core/errors.ts'
import { createTurns } from '../core/in-parallel.ts'

const present = { memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32 } as const

const presentPrefix = `$argon2id$v=19$m=${present.memory},t=${present.passes},p=${present.parallelism}$`

const derive = promisify<'argon2id', Argon2Parameters, Buffer>(argon2)

const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const inBase64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

const read = (phc: string) => {
  const [, memory, passes, parallelism, nonce, encodedTag] = shape.exec(phc) ?? []
  if (nonce === undefined || encodedTag === undefined) throw new Error('The format of a stored password is unknown')
  const tag = Buffer.from(encodedTag, 'base64')
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return { tag, parameters: { ...cost, tagLength: tag.length, nonce: Buffer.from(nonce, 'base64') } }
}

const write = (nonce: Buffer, tag: Buffer): string => `${presentPrefix}${inBase64(nonce)}$${inBase64(tag)}`

/**
 * Hashing and reading files use the same threads. So only a few hashes are computed at once, and the other calls wait.
 * Errors: unavailable, if too many wait.
 */
const inTurn = createTurns({ atOnce: 2, mostWaiting: 50 })

const tagOf = (password: string, parameters: Omit<Argon2Parameters, 'message'>): Promise<Buffer> =>
  inTurn(() => derive('argon2id', { message: password.normalize('NFC'), ...parameters }))

export const hashPassword = async (password: string): Promise<string> => {
  const nonce = randomBytes(16)
  return write(nonce, await tagOf(password, { ...present, nonce }))
}

// No password has this hash. A-66: a sign-in with a wrong name checks this hash, and so takes as much time as one with
// a wrong password.
const nobody = write(randomBytes(16), randomBytes(present.tagLength))

export const matchesPassword = async (password: string, stored: string | undefined): Promise<boolean> => {
  const { tag, parameters } = read(stored ?? nobody)
  return timingSafeEqual(await tagOf(password, parameters), tag) && stored !== undefined
}

export const isOutdated = (stored: string): boolean => !stored.startsWith(presentPrefix)

const [fewest, most] = [12, 256]
const shortestName = 3

const weak = (reason: string): ServiceError =>
  new ServiceError('passwordWeak', { message: `The password ${reason}. Choose another password.` })

/** `names` has the name of the person and the names of the person's sites. Errors: passwordWeak. */
export const checkPassword = (password: string, names: readonly string[]): void => {
  const text = password.normalize('NFC')
  const length = [...text].length
  if (length < fewest) throw weak(`has fewer than ${fewest} characters`)
  if (length > most) throw weak(`has more than ${most} characters`)
  const lower = text.toLowerCase()
  const isIn = (name: string) => [...name].length >= shortestName && lower.includes(name.toLowerCase())
  if (names.map((name) => name.normalize('NFC')).some(isIn)) throw weak('contains the name of the person or of a site')
}
