import { accessRoutes } from '../../../lib/contract/routes/access.ts'
import { categoriesRoutes, ofEachKind } from '../../../lib/contract/routes/categories.ts'
import { fieldsRoutes } from '../../../lib/contract/routes/fields.ts'
import type { routes } from '../../../lib/contract/routes/routes.ts'
import { webhooksRoutes } from '../../../lib/contract/routes/webhooks.ts'
import { areas } from '../../../lib/core/rights.ts'

interface Act {
  readonly body?: object
  /** The smallest set of rights that suffices. Default: the right of the route. */
  readonly needs?: readonly string[]
  /** The person has rights on another site. The caller must have these rights as well. */
  readonly onEverySite?: true
  /** A token of a command belongs to no person, so the operation refuses it. */
  readonly needsPerson?: true
}

type Guarded = Extract<
  Exclude<(typeof routes)[number], { readonly group: 'storage' }>,
  { readonly right: string }
>['operation']

// The service refuses to connect to this address.
export const targetUrl = 'https://127.0.0.1/'
export const rightsOfTarget = ['files:write:/a', 'history:read']
const ofTarget = { needs: [...rightsOfTarget, 'access:write'], onEverySite: true } as const

const usual = { usually: {} }
const withBody = (body: object) => ({ usually: { body } })

/**
 * The requests of each operation that needs a right, apart from those on files. A new operation does not compile
 * without a request. An operation without requests has its own test.
 */
const acts: Readonly<Record<Guarded, Readonly<Record<string, Act>>>> = {
  listUsers: usual,
  getUser: usual,
  addUser: {
    'without rights': { body: { rights: [] } },
    'as editor': {
      body: { role: 'editor' },
      needs: ['access:write', 'files:write', 'forms:write', 'categories:write', 'history:read'],
    },
    'as author': {
      body: { role: 'author', folders: ['/a/b'] },
      needs: ['access:write', 'files:write:/a', 'history:read'],
    },
  },
  changeUser: {
    'with another right': { body: { rights: ['files:write:/A'] }, needs: ['access:write', 'files:write:/A'] },
    'without rights': { body: { rights: [] } },
    'to disable the person': { body: { disabled: true }, ...ofTarget },
    'to invite the person again': { body: { invite: true }, ...ofTarget },
    'with another e-mail address': { body: { email: 'x@y.z' }, ...ofTarget },
    'with another name to show': { body: { displayName: 'X' }, ...ofTarget },
  },
  removeUser: {},
  listKeys: usual,
  createKey: {
    'with rights': { body: { name: 'New', rights: rightsOfTarget }, needs: ofTarget.needs, needsPerson: true },
    'for people': { body: { name: 'New', rights: ['access:write'] }, needsPerson: true },
  },
  deleteKey: usual,
  listWebhooks: usual,
  createWebhook: {
    'for links': { body: { targetUrl, types: ['link.*'] }, needs: ['access:write', 'history:read', 'categories:read'] },
  },
  getWebhook: usual,
  changeWebhook: {
    'with another note': { body: { description: 'X' }, needs: ['access:write', 'history:read', 'files:read'] },
  },
  testWebhook: usual,
  listDeliveries: usual,
  repeatDelivery: usual,
  removeWebhook: usual,
  listWebForms: usual,
  getWebForm: usual,
  listFieldTypes: usual,
  listFields: usual,
  getField: usual,
  createField: withBody({ type: { id: -3 }, mandatory: true }),
  updateField: withBody({ mandatory: false }),
  deleteField: usual,
  listCategories: usual,
  getCategory: usual,
  listSiteUrls: usual,
  ...ofEachKind<Readonly<Record<string, Act>>>(() => ({
    list: usual,
    listAll: usual,
    listCategories: usual,
    link: withBody({ items: [{ objectId: 1, displayable: 0 }] }),
    unlink: withBody({ items: [{ objectId: 1 }] }),
    linkCategories: withBody({ items: [{ categoryId: 5, displayable: 0 }] }),
    unlinkCategories: withBody({ items: [{ categoryId: 5 }] }),
  })),
}

export interface Row extends Act {
  readonly name: string
  readonly group: 'access' | 'webhooks' | 'fields' | 'categories'
  readonly method: string
  readonly path: string
  readonly right: string
  readonly needs: readonly string[]
}

const guarded = [...accessRoutes, ...webhooksRoutes, ...fieldsRoutes, ...categoriesRoutes].filter(
  (route) => 'right' in route,
)

const rowsOf = (route: (typeof guarded)[number], requests: Readonly<Record<string, Act>>): readonly Row[] =>
  Object.entries(requests).map(([how, act]) => ({
    ...route,
    name: `${route.operation} ${how}`,
    needs: [route.right],
    ...act,
  }))

export const rows = guarded.flatMap((route) => rowsOf(route, acts[route.operation]))

/** If the caller lacks a right of the person, the removal is not refused, but concerns only this site. */
export const removal = guarded
  .filter(({ operation }) => operation === 'removeUser')
  .flatMap((route) => rowsOf(route, { usually: ofTarget }))[0] as Row

export const everything = areas.map((area) => `${area}:write`)
