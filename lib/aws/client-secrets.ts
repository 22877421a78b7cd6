import { readClientSecrets } from '../config/settings.ts'
import { cachedLookup } from '../core/cached-lookup.ts'
import { systemClock } from '../core/time.ts'

// In milliseconds: a new secret takes effect after this time.
const rememberedFor = 300_000

const readSecrets = async (name: string): Promise<ReadonlyMap<string, string>> => {
  const { readParameter } = await import('./read-parameter.ts')
  const text = await readParameter(name)
  return text === undefined ? new Map() : readClientSecrets(text, `The parameter ${name} `)
}

/** the client secrets of issuers from a parameter of Systems Manager, read when they are first needed. */
export const createClientSecrets = (name: string | undefined) => {
  const read = cachedLookup<string, ReadonlyMap<string, string>>(readSecrets, {
    ttl: rememberedFor,
    max: 1,
    now: systemClock.monotonic,
  })
  return async (issuer: string): Promise<string | undefined> =>
    name === undefined ? undefined : (await read(name))?.get(issuer)
}
