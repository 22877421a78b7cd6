import { usePage } from '../page/context.ts'
import { Keys } from './keys.tsx'
import { People } from './people.tsx'
import { Webhooks } from './webhooks.tsx'

/** The people, keys and webhooks of a site. Keys and webhooks need the right to change people (A-87, V-1). */
export const AccessView = () => (
  <div class="pane access">
    <People />
    {usePage().rights.has('access:write') && (
      <>
        <Keys />
        <Webhooks />
      </>
    )}
  </div>
)
