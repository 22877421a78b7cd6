import * as z from 'zod/mini'
import { itemsOf, linkItem, numericString, objectId, unlinkItem } from './items-body.ts'

/** What the bodies of this group hold, as the schemas of the edge see it behind the shapes that they take it from. */
// No pattern says how far a number goes: this one says what is never too far.
numericString.register(z.globalRegistry, { pattern: '^[1-9]\\d{0,8}$' })
objectId.register(z.globalRegistry, { id: 'ObjectId', description: 'The id of a news item or of a blog.' })

export const links = z
  .object({ items: itemsOf(linkItem.register(z.globalRegistry, { id: 'NewLink' })) })
  .register(z.globalRegistry, { id: 'NewLinks', description: 'What to link with the category.' })

const unlinked = z.union([unlinkItem, objectId])

/** `[{"objectId":1}]`, `[1]` and `1` say the same. */
export const unlinkedItems = z.union([itemsOf(unlinked), unlinked]).register(z.globalRegistry, {
  id: 'UnlinkedItems',
  description: 'Objects with an `objectId`, or ids; or one of them.',
})

export const unlinks = z
  .object({ items: unlinkedItems })
  .register(z.globalRegistry, { id: 'Unlinks', description: 'What to unlink from the category.' })
