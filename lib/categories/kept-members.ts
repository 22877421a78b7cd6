import type { SiteId } from '../ids.ts'
import { type ContentKind, contentMembers, textMember } from './content-kinds.ts'
import type { Content } from './contents.ts'
import type { Members, Scalar, Scalars } from './query/item-shape.ts'

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** What is kept of content in one place: not its long text, and not what is the same for all content of a site. */
export const membersToKeep = (content: Content, kind: ContentKind): Scalars => {
  const text = textMember(kind)
  return Object.fromEntries(Object.entries(content).filter(([name]) => name !== text && name !== 'siteId'))
}

/** The content that such members are kept of: whatever its kind has, null where nothing is kept. */
export const contentOf = (kept: Readonly<Record<string, unknown>>, site: SiteId, kind: ContentKind): Content => {
  const members: Members = contentMembers[kind]
  const content: Record<string, Scalar> & { id: number } = { id: Number(kept['id']) }
  for (const name in members) {
    const value = name === 'siteId' ? site : kept[name]
    if (members[name]?.type !== 'text') content[name] = isScalar(value) ? value : null
  }
  return content
}
