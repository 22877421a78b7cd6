import { describeEntry } from '../../lib/access/people.ts'
import type { Change } from '../../lib/core/history-entry.ts'
import { expectStatus, type Judged, random, recordedLane, type Service, type Step, site } from './lanes.ts'
import type { Recording } from './record.ts'

/** The value of each thing by its name, such as the role of a person. */
type Things = Readonly<Record<string, string>>

interface Kind {
  readonly path: string
  /** Things with one value are only created and removed. */
  readonly values: readonly [string, string?]
  readonly type: string
  named(name: string): object
  bodyOf(value: string): object
  observe(stores: Judged['machine']['stores']): Promise<readonly (readonly [name: string, value: string])[]>
}

/** A lane that creates, changes and removes three things. */
const namedChanges = ({ path, values: [first, second], type, named, bodyOf, observe }: Kind) => {
  const ids = new Map<string, string>()
  const step = (method: string, name: string, body: object | undefined, after: Things): Step<Things> => ({
    after,
    async send({ request }) {
      const to = method === 'POST' ? path : `${path}/${ids.get(name)}`
      const init = { method, ...(body && { body: JSON.stringify(body) }) }
      const answer = await expectStatus(request(to, init), `${method} ${name}`)
      if (method === 'POST') ids.set(name, ((await answer.json()) as { id?: string }).id ?? name)
      return after
    },
  })
  const next = (things: Things, count: number): Step<Things> => {
    const name = `${type}${count % 3}`
    const { [name]: value, ...others } = things
    if (value === undefined)
      return step('POST', name, { ...named(name), ...bodyOf(first) }, { ...things, [name]: first })
    if (second === undefined || random.below(3) === 0) return step('DELETE', name, undefined, others)
    const other = value === first ? second : first
    return step('PUT', name, bodyOf(other), { ...things, [name]: other })
  }
  const observeOwn = async ({ machine: { stores } }: Judged): Promise<Things> => {
    const found = await observe(stores)
    return Object.fromEntries(found.filter(([name]) => name.startsWith(type)))
  }
  // A command adds the owner.
  const isOwn = (change: Change) => change.type.startsWith(`${type}.`) && !change.actor.startsWith('admin:')
  return recordedLane<Things>({ start: {}, next, observe: observeOwn }, isOwn)
}

export const peopleChanges = () =>
  namedChanges({
    path: `/api/v2/admin/sites/${site}/users`,
    values: ['viewer', 'editor'],
    type: 'user',
    named: (name) => ({ name }),
    bodyOf: (role) => ({ role }),
    async observe({ people }) {
      return (await people.listOfSites(site)).map(({ name, sites }) => [name, `${describeEntry(sites[site]).role}`])
    },
  })

export const keyChanges = () =>
  namedChanges({
    path: `/api/v2/admin/sites/${site}/keys`,
    values: ['files:read'],
    type: 'key',
    named: (name) => ({ name }),
    bodyOf: (right) => ({ rights: [right] }),
    async observe({ grants }) {
      return (await grants.keysOf(site)).map(({ name, permissions }) => [name, permissions.join()])
    },
  })

/** The targets are addresses of this machine, so every delivery is refused before a connection (V-14). */
export const webhookChanges = () =>
  namedChanges({
    path: `/webresources/api/v3/sites/${site}/webhooks`,
    values: ['true', 'false'],
    type: 'webhook',
    named: (name) => ({ targetUrl: `https://127.0.0.1/${name}`, types: ['webhook.*'], description: name }),
    bodyOf: (value) => ({ enabled: value === 'true' }),
    async observe({ webhooks }) {
      return (await webhooks.listOfSite(site)).map(({ description, enabled }) => [description, `${enabled}`])
    },
  })

const owner = { username: 'owner', password: 'correct horse battery' } as const

export const addOwner = ({ administer }: Recording) =>
  administer(
    ['user', 'add', owner.username, '--site', `${site}`, '--role', 'owner', '--password-stdin'],
    owner.password,
  )

/** The requests of an owner of the site. The token of the demo may not manage people. */
export const signIn = async ({ request }: Service): Promise<Service> => {
  const init = { method: 'POST', body: JSON.stringify(owner) }
  const answer = await expectStatus(request('/api/v2/admin/tokens', init), 'the sign-in')
  const { token } = (await answer.json()) as { token: string }
  return { request: (path, init) => request(path, { ...init, headers: { ...init?.headers, Authorization: token } }) }
}
