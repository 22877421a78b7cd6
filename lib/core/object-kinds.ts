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
  readonly defaultText?: string
}

// Paths and operation names contain `segment`. In answers, the member `objectType` has the value of `type` (C-4).
// Answers have the members in this order. A member of type `text` is stored separately. `defaultText` describes a
// default that is a function.
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
  (meaning: string, otherwise?: Default, defaultText?: string): ContentMember => ({
    type,
    meaning,
    ...(otherwise !== undefined && { otherwise }),
    ...(defaultText !== undefined && { defaultText }),
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

/** Cuts a text to the longest string, but never through a character. */
const shortened = (text: string): string => text.slice(0, longestString).replace(/[\uD800-\uDBFF]$/, '')

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
    id: integer('the number that identifies the item'),
    siteId: integer('the number of the site; an import ignores other values'),
    roleId: integer('the number of the role', 0),
    subject: string('its heading', (of) => `News ${of('id')}`),
    body: text('the text, in HTML', ''),
    templateId: integer('the number of the template', 0),
    weight: orNull(integer, 'a number to sort by'),
    createBy: integer('the number of the user who created the item', 0),
    createDate: date('the time of creation', now),
    lastUpdateBy: integer('the number of the user who last changed the item', same('createBy')),
    lastUpdateDate: date('the time of the last change', same('createDate')),
    eventFromDate: date('the start of the event', same('releaseDate')),
    eventToDate: date('the end of the event', same('eventFromDate')),
    releaseDate: date('pages show the item from this time on', same('createDate')),
    expiryDate: date('pages show the item until this time', never),
    enabled: boolean('true if the item is in use', true),
    deleted: boolean('true if the author deleted the item. Lists still contain the item', false),
    displayable: boolean('true if pages may show it', true),
    parentId: integer('the number of the parent', 0),
    urlPrefix: string('the beginning of the address', '/news'),
    slug: string(
      'the last part of the address',
      (of) => slugOf(String(of('subject'))).slice(0, longestString) || String(of('id')),
      'the words of `subject` in lower case, joined by hyphens; `id` if there is no subject',
    ),
    url: string('the address on the site', (of) => shortened(`${of('urlPrefix')}/${of('slug')}`)),
  },
  examples: { shown: 'subject,slug', flag: 'enabled', date: 'releaseDate' },
} as const satisfies ObjectKindRecord

const blog = {
  one: 'blog',
  many: 'blogs',
  segment: 'blogs',
  type: 55,
  members: {
    id: integer('the number that identifies the blog'),
    siteId: integer('the number of the site; an import ignores other values'),
    roleId: integer('the number of the role', 0),
    templateId: integer('the number of the template', 0),
    blogName: string('its name', (of) => `Blog ${of('id')}`),
    blogDescription: string('its description', ''),
    title: string('its heading', same('blogName')),
    allowRSS: boolean('true if readers can follow the blog by RSS', true),
    rssChannelId: integer('the number of the RSS channel', 0),
    lastPostDate: date('the time of the newest post', same('createDate')),
    postCount: integer('the number of posts', 0),
    weight: orNull(integer, 'a number to sort by'),
    releaseDate: date('pages show the blog from this time on', same('createDate')),
    expiryDate: date('pages show the blog until this time', never),
    createDate: date('the time of creation', now),
    lastUpdateDate: date('the time of the last change', same('createDate')),
    enabled: boolean('true if the blog is in use', true),
    disableComments: boolean('true if comments are off', false),
    slug: orNull(string, 'the last part of the address'),
    blogUrl: orNull(string, 'the address on the site'),
  },
  examples: { shown: 'blogName', flag: 'enabled', date: 'releaseDate' },
} as const satisfies ObjectKindRecord

/** Routes, operations, documents, imports, commands and tables are derived from these records. */
export const objectKinds = { news, blog } as const satisfies Readonly<Record<string, ObjectKindRecord>>
