import { usePage } from '../page/context.ts'
import { Keys } from './keys.tsx'
import { People } from './people.tsx'

/** The people and the keys of the site. Keys need a right to change people, also to see them. */
export const AccessView = () => (
  <div class="pane access">
    <People />
    {usePage().rights.has('access:write') && <Keys />}
  </div>
)
