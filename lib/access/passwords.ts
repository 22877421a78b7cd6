import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ServiceError } from '../core/errors.ts'

const derive = promisify(argon2)

interface Cost {
  readonly memory: number // KiB
  readonly passes: number
  readonly parallelism: number
}

const present: Cost = { memory: 19 * 1024, passes: 2, parallelism: 1 }
const saltLength = 16
const tagLength = 32

// Hashing shares its threads with reads of files. 100 hashes at once delayed a read by 1.2 s.
const mostAtOnce = 2
const mostWaiting = 50

const waiting: (() => void)[] = []
let running = 0

const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  if (running < mostAtOnce) running += 1
  else {
    if (waiting.length === mostWaiting) throw new ServiceError('unavailable')
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}

const tagOf = (password: string, nonce: Buffer, { memory, passes, parallelism }: Cost): Promise<Buffer> =>
  inTurn(() =>
    derive('argon2id', { message: password.normalize('NFC'), nonce, memory, passes, parallelism, tagLength }),
  )

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/** a PHC string. Errors: unavailable (too many at once). */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(saltLength)
  const tag = await tagOf(password, salt, present)
  return `$argon2id$v=19$m=${present.memory},t=${present.passes},p=${present.parallelism}$${base64(salt)}$${base64(tag)}`
}

const shape = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{43})$/

/**
 * `outdated`: right, but with another cost than new hashes. Without a hash, as for an unknown person, the answer takes
 * the same time. Errors: unavailable (too many at once).
 */
export const checkPassword = async (
  password: string,
  hash: string | undefined,
): Promise<'right' | 'outdated' | 'wrong'> => {
  const [, memory, passes, parallelism, salt, tag] = shape.exec(hash ?? '') ?? []
  if (salt === undefined || tag === undefined) {
    await tagOf(password, randomBytes(saltLength), present)
    return 'wrong'
  }
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const derived = await tagOf(password, Buffer.from(salt, 'base64'), cost)
  if (!timingSafeEqual(derived, Buffer.from(tag, 'base64'))) return 'wrong'
  return memory === String(present.memory) && passes === String(present.passes) ? 'right' : 'outdated'
}

const shortest = 12
const longest = 256

/** the sentence that refuses a password; undefined for a good one. `names`: of the person and the site. */
export const faultOfPassword = (password: string, names: readonly string[]): string | undefined => {
  const text = password.normalize('NFC')
  const length = [...text].length
  if (length < shortest) return `The password is too short. It must have ${shortest} characters or more.`
  if (length > longest) return `The password is too long. It can have at most ${longest} characters.`
  const folded = text.toLowerCase()
  const contained = names.find((name) => name !== '' && folded.includes(name.normalize('NFC').toLowerCase()))
  return contained === undefined ? undefined : `The password contains the name "${contained}". Choose another one.`
}
