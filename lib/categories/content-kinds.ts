import type { ItemShape, Members } from './query/item-shape.ts'

/** What a category is made of (decisions.md, section 8). */
const category = { id: { type: 'integer' }, name: { type: 'string' } } as const satisfies Members

/** What a news item is made of, in the order of api.md, "Category association item". */
const news = {
  id: { type: 'integer' },
  siteId: { type: 'integer' },
  roleId: { type: 'integer' },
  subject: { type: 'string' },
  body: { type: 'text' },
  templateId: { type: 'integer' },
  weight: { type: 'integer', nullable: true },
  createBy: { type: 'integer' },
  createDate: { type: 'date' },
  lastUpdateBy: { type: 'integer' },
  lastUpdateDate: { type: 'date' },
  eventFromDate: { type: 'date' },
  eventToDate: { type: 'date' },
  releaseDate: { type: 'date' },
  expiryDate: { type: 'date' },
  enabled: { type: 'boolean' },
  deleted: { type: 'boolean' },
  displayable: { type: 'boolean' },
  parentId: { type: 'integer' },
  urlPrefix: { type: 'string' },
  slug: { type: 'string' },
  url: { type: 'string' },
} as const satisfies Members

/** What a blog is made of, in the order of api.md, "Category association item". */
const blog = {
  id: { type: 'integer' },
  siteId: { type: 'integer' },
  roleId: { type: 'integer' },
  templateId: { type: 'integer' },
  blogName: { type: 'string' },
  blogDescription: { type: 'string' },
  title: { type: 'string' },
  allowRSS: { type: 'boolean' },
  rssChannelId: { type: 'integer' },
  lastPostDate: { type: 'date' },
  postCount: { type: 'integer' },
  weight: { type: 'integer', nullable: true },
  releaseDate: { type: 'date' },
  expiryDate: { type: 'date' },
  createDate: { type: 'date' },
  lastUpdateDate: { type: 'date' },
  enabled: { type: 'boolean' },
  disableComments: { type: 'boolean' },
  slug: { type: 'string', nullable: true },
  blogUrl: { type: 'string', nullable: true },
} as const satisfies Members

/** The kinds of content of a site, and what each is made of. */
export const contentMembers = { category, news, blog } as const satisfies Record<string, Members>

export type ContentKind = keyof typeof contentMembers

/** The kinds that categories are linked with. */
export const objectKinds = ['news', 'blog'] as const
export type ObjectKind = (typeof objectKinds)[number]

/** The type code of a linked object (decisions.md, section 4). */
export const objectTypes: Readonly<Record<ObjectKind, number>> = { news: 7, blog: 55 }

/** The member of a kind that is kept apart because it is long and seldom asked for. */
export const textMember = (kind: ContentKind): string | undefined =>
  Object.entries<Members[string]>(contentMembers[kind]).find(([, { type }]) => type === 'text')?.[0]

/** What the items of a list of categories are made of. */
export const categoryShape: ItemShape = { key: 'id', own: contentMembers.category, objects: [] }

/** What an association has beside its object (api.md, "Category association item"). */
export const associationMembers = {
  objectId: { type: 'integer' },
  categoryId: { type: 'integer' },
  objectType: { type: 'integer' },
  displayable: { type: 'flag' },
  siteId: { type: 'integer' },
} as const satisfies Members

/** What the items of a list of a category's news or blogs are made of. */
export const associationShape = (kind: ObjectKind): ItemShape => ({
  key: 'objectId',
  own: associationMembers,
  objects: [
    { name: kind, members: contentMembers[kind], standard: true },
    { name: 'category', members: contentMembers.category, standard: false },
  ],
})
