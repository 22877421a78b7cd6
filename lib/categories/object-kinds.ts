import type { Member, MemberType, Scalar } from './query/item-shape.ts'

/** What a member is when nobody says: a value, or what other members (`of`) and the moment of creation make of it. */
type Default = Scalar | ((of: (name: string) => Scalar, now: string) => Scalar)

export interface ContentMember extends Member {
  readonly otherwise?: Default
}

/** A kind of objects that categories are linked with: all that the service knows of it. */
interface ObjectKindRecord {
  /** What people call one, and several. */
  readonly one: string
  readonly many: string
  /** Its segment in paths; operations are named by it, too. */
  readonly segment: string
  /** What a linked object of the kind says as its `objectType` (decisions.md, section 4). */
  readonly type: number
  /** The numbers of its operations in the contract (list, link, unlink), where that has any. */
  readonly numbers: readonly [number, number, number] | readonly []
  /** What it is made of, in the order of answers. A member of type `text` is long, seldom asked for, and kept apart. */
  readonly members: Readonly<Record<string, ContentMember>>
  /** Members that the examples of the document have: some to show, one that is true or false, one to sort by. */
  readonly examples: { readonly shown: string; readonly flag: string; readonly date: string }
}

const member =
  (type: MemberType) =>
  (otherwise?: Default): ContentMember =>
    otherwise === undefined ? { type } : { type, otherwise }

const integer = member('integer')
const string = member('string')
const text = member('text')
const boolean = member('boolean')
const date = member('date')

const orNull = (make: (otherwise: Default) => ContentMember): ContentMember => ({ ...make(null), nullable: true })

const now: Default = (_, moment) => moment
const same =
  (name: string): Default =>
  (of) =>
    of(name)

/** No date says "never"; this is what such systems have always put in its place. */
const never = '9999-01-01T00:00:00'

/** The words of a text as a part of a URL. */
const slugOf = (words: string): string =>
  words
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** In the order of api.md, "Category association item". */
const news = {
  one: 'news item',
  many: 'news items',
  segment: 'news',
  type: 7,
  numbers: [6, 7, 8],
  members: {
    id: integer(),
    siteId: integer(),
    roleId: integer(0),
    subject: string((of) => `News ${of('id')}`),
    body: text(''),
    templateId: integer(0),
    weight: orNull(integer),
    createBy: integer(0),
    createDate: date(now),
    lastUpdateBy: integer(same('createBy')),
    lastUpdateDate: date(same('createDate')),
    eventFromDate: date(same('releaseDate')),
    eventToDate: date(same('eventFromDate')),
    releaseDate: date(same('createDate')),
    expiryDate: date(never),
    enabled: boolean(true),
    deleted: boolean(false),
    displayable: boolean(true),
    parentId: integer(0),
    urlPrefix: string('/news'),
    slug: string((of) => slugOf(String(of('subject'))) || String(of('id'))),
    url: string((of) => `${of('urlPrefix')}/${of('slug')}`),
  },
  examples: { shown: 'subject,slug', flag: 'enabled', date: 'releaseDate' },
} as const satisfies ObjectKindRecord

/** In the order of api.md, "Category association item". */
const blog = {
  one: 'blog',
  many: 'blogs',
  segment: 'blogs',
  type: 55,
  numbers: [9, 10, 11],
  members: {
    id: integer(),
    siteId: integer(),
    roleId: integer(0),
    templateId: integer(0),
    blogName: string((of) => `Blog ${of('id')}`),
    blogDescription: string(''),
    title: string(same('blogName')),
    allowRSS: boolean(true),
    rssChannelId: integer(0),
    lastPostDate: date(same('createDate')),
    postCount: integer(0),
    weight: orNull(integer),
    releaseDate: date(same('createDate')),
    expiryDate: date(never),
    createDate: date(now),
    lastUpdateDate: date(same('createDate')),
    enabled: boolean(true),
    disableComments: boolean(false),
    slug: orNull(string),
    blogUrl: orNull(string),
  },
  examples: { shown: 'blogName', flag: 'enabled', date: 'releaseDate' },
} as const satisfies ObjectKindRecord

/**
 * The kinds of objects, by name. Routes, operations, their documents, records of an import, commands and tables are made from
 * these records: a new kind is a new record.
 */
export const objectKinds = { news, blog } as const satisfies Readonly<Record<string, ObjectKindRecord>>
