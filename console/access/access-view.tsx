import { usePage } from '../page/context.ts'
import { Keys } from './keys.tsx'
import { People } from './people.tsx'

/** The people and the keys of the site. Only callers who may change people see the keys. */
export const AccessView = () => (
  <div class="pane access">
    <People />
    {usePage().rights.has('access:write') && <Keys />}
  </div>
)
