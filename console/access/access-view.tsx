import { usePage } from '../page/context.ts'
import { Keys } from './keys.tsx'
import { People } from './people.tsx'
import { Webhooks } from './webhooks.tsx'

/**
 * Shows the people, keys and webhooks of the site. Only callers who may change people see keys and webhooks (A-87,
 * V-1).
 */
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
