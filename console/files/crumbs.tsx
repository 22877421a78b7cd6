import { Icon } from '../parts/icon.tsx'
import { linkTo } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { partsOf } from '../uploads/paths.ts'
import { dragTarget, dropOn } from './drag.ts'
import { useFiles } from './files-context.ts'

export const Crumbs = () => {
  const files = useFiles()
  const { store } = files
  const t = texts.value.files
  const parts = partsOf(store.folder.path.value)
  const steps = [t.root, ...parts]
  return (
    <nav class="crumbs" aria-label={t.path}>
      <ol>
        {steps.map((name, index) => {
          const path = parts.slice(0, index)
          const place = path.join('/')
          const isLast = index === steps.length - 1
          return (
            <li key={place}>
              {index > 0 && <Icon name="right" />}
              <a
                href={linkTo({ view: 'files', path })}
                aria-current={isLast ? 'location' : undefined}
                class={dragTarget.value === place && !isLast ? 'is-target' : ''}
                {...dropOn(place, files)}
              >
                <bdi>{name}</bdi>
              </a>
            </li>
          )
        })}
      </ol>
    </nav>
  )
}
