/** `flag` is 1 or 0; `date` is `YYYY-MM-DDTHH:MM:SS` in UTC; `text` is too long to be compared. */
export type MemberType = 'integer' | 'flag' | 'string' | 'boolean' | 'date' | 'text'

export interface Member {
  readonly type: MemberType
  readonly nullable?: true
}

export type Members = Readonly<Record<string, Member>>

export type Scalar = string | number | boolean | null

export type Scalars = Readonly<Record<string, Scalar>>

type Default = Scalar | ((of: (name: string) => Scalar, now: string) => Scalar)

export interface ContentMember extends Member {
  readonly meaning?: string
  readonly otherwise?: Default
  readonly otherwiseSaid?: string
}

/**
 * Paths and operation names contain `segment`. The `objectType` of a linked object is `type` (C-4). Answers have the
 * members in this order; one of type `text` is stored separately. `otherwiseSaid` describes a default that is a function.
 */
interface ObjectKindRecord {
  readonly one: string
  readonly many: string
  readonly segment: string
  readonly type: number
  readonly members: Readonly<Record<string, ContentMember>>
  readonly examples: { readonly shown: string; readonly flag: string; readonly date: string }
}

const member =
  (type: MemberType) =>
  (meaning: string, otherwise?: Default, otherwiseSaid?: string): ContentMember => ({
    type,
    meaning,
    ...(otherwise !== undefined && { otherwise }),
    ...(otherwiseSaid !== undefined && { otherwiseSaid }),
  })

const integer = member('integer')
const string = member('string')
const text = member('text')
const boolean = member('boolean')
const date = member('date')

const orNull = (make: ReturnType<typeof member>, meaning: string): ContentMember => ({
  ...make(meaning, null),
  nullable: true,
})

const now: Default = (_, moment) => moment
const same =
  (name: string): Default =>
  (of) =>
    of(name)

const never = '9999-01-01T00:00:00'

export const longestString = 500

const slugOf = (words: string): string =>
  words
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

const news = {
  one: 'news item',
  many: 'news items',
  segment: 'news',
  type: 7,
  members: {
    id: integer('its number, by which it is found'),
    siteId: integer('the number of its site: whatever a record says, it is that of the site'),
    roleId: integer('the number of the role that it belongs to', 0),
    subject: string('its heading', (of) => `News ${of('id')}`),
    body: text('its text, in HTML', ''),
    templateId: integer('the number of the template that it is shown with', 0),
    weight: orNull(integer, 'a number to sort by'),
    createBy: integer('the number of the user who has made it', 0),
    createDate: date('when it was made', now),
    lastUpdateBy: integer('the number of the user who has changed it last', same('createBy')),
    lastUpdateDate: date('when it was changed last', same('createDate')),
    eventFromDate: date('when the event begins that it is about', same('releaseDate')),
    eventToDate: date('when that event ends', same('eventFromDate')),
    releaseDate: date('from when on it is to be shown', same('createDate')),
    expiryDate: date('until when it is to be shown', never),
    enabled: boolean('whether it is in use', true),
    deleted: boolean('whether its author has thrown it away; lists show it with this mark', false),
    displayable: boolean('whether pages may show it', true),
    parentId: integer('the number of what it belongs to', 0),
    urlPrefix: string('the beginning of its address', '/news'),
    slug: string(
      'its own part of its address',
      (of) => slugOf(String(of('subject'))).slice(0, longestString) || String(of('id')),
      'the words of `subject` in small letters, with hyphens between them; `id` where there are none',
    ),
    url: string('its address on the site', (of) => `${of('urlPrefix')}/${of('slug')}`.slice(0, longestString)),
  },
  examples: { shown: 'subject,slug', flag: 'enabled', date: 'releaseDate' },
} as const satisfies ObjectKindRecord

const blog = {
  one: 'blog',
  many: 'blogs',
  segment: 'blogs',
  type: 55,
  members: {
    id: integer('its number, by which it is found'),
    siteId: integer('the number of its site: whatever a record says, it is that of the site'),
    roleId: integer('the number of the role that it belongs to', 0),
    templateId: integer('the number of the template that it is shown with', 0),
    blogName: string('its name', (of) => `Blog ${of('id')}`),
    blogDescription: string('what it is about', ''),
    title: string('its heading', same('blogName')),
    allowRSS: boolean('whether it can be followed by RSS', true),
    rssChannelId: integer('the number of its RSS channel', 0),
    lastPostDate: date('when its newest post was made', same('createDate')),
    postCount: integer('how many posts it has', 0),
    weight: orNull(integer, 'a number to sort by'),
    releaseDate: date('from when on it is to be shown', same('createDate')),
    expiryDate: date('until when it is to be shown', never),
    createDate: date('when it was made', now),
    lastUpdateDate: date('when it was changed last', same('createDate')),
    enabled: boolean('whether it is in use', true),
    disableComments: boolean('whether comments are off', false),
    slug: orNull(string, 'its own part of its address'),
    blogUrl: orNull(string, 'its address on the site'),
  },
  examples: { shown: 'blogName', flag: 'enabled', date: 'releaseDate' },
} as const satisfies ObjectKindRecord

/** Routes, operations, documents, imports, commands and tables are derived from these records. */
export const objectKinds = { news, blog } as const satisfies Readonly<Record<string, ObjectKindRecord>>
