import type { ContentKind } from './content-kinds.ts'
import type { Scalar, Scalars } from './query/item-shape.ts'

type Default = Scalar | ((content: Scalars) => Scalar)

/** No date says "never"; this is what such systems have always put in its place. */
const never = '9999-01-01T00:00:00'

const member = (name: string) => (content: Scalars) => content[name] ?? null

/** The words of a text as a part of a URL. */
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** What a member is when nobody says; later ones may look at earlier ones. `now` is the moment of creation. */
const defaultsAt = (now: string): Readonly<Record<ContentKind, Readonly<Record<string, Default>>>> => ({
  category: { name: ({ id }) => `Category ${id}` },
  news: {
    roleId: 0,
    subject: ({ id }) => `News ${id}`,
    body: '',
    templateId: 0,
    weight: null,
    createBy: 0,
    createDate: now,
    lastUpdateBy: member('createBy'),
    lastUpdateDate: member('createDate'),
    releaseDate: member('createDate'),
    expiryDate: never,
    eventFromDate: member('releaseDate'),
    eventToDate: member('eventFromDate'),
    enabled: true,
    deleted: false,
    displayable: true,
    parentId: 0,
    urlPrefix: '/news',
    slug: ({ id, subject }) => slugOf(String(subject)) || String(id),
    url: ({ urlPrefix, slug }) => `${urlPrefix}/${slug}`,
  },
  blog: {
    roleId: 0,
    templateId: 0,
    blogName: ({ id }) => `Blog ${id}`,
    blogDescription: '',
    title: member('blogName'),
    allowRSS: true,
    rssChannelId: 0,
    createDate: now,
    lastUpdateDate: member('createDate'),
    lastPostDate: member('createDate'),
    postCount: 0,
    weight: null,
    releaseDate: member('createDate'),
    expiryDate: never,
    enabled: true,
    disableComments: false,
    slug: null,
    blogUrl: null,
  },
})

/** Gives every member that is left out a sensible value. `now` is in milliseconds since the epoch. */
export const withDefaults = <Given extends Scalars>(kind: ContentKind, given: Given, now: number): Given & Scalars => {
  const content: Record<string, Scalar> = { ...given }
  for (const [name, value] of Object.entries(defaultsAt(new Date(now).toISOString().slice(0, 19))[kind])) {
    if (content[name] === undefined) content[name] = typeof value === 'function' ? value(content) : value
  }
  return { ...content, ...given }
}
