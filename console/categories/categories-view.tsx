import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Change } from '../../client/src/index.ts'
import { chosenId, hasRoom } from '../app/chosen.ts'
import { usePage } from '../app/context.ts'
import { goTo } from '../app/routes.ts'
import { Chooser, type Named } from '../parts/chooser.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { CategoryObjects } from './category-objects.tsx'

const isAboutCategories = ({ type }: Change): boolean => /^(category|content)\./.test(type)

/** The categories of the site, and what is linked with the one that is chosen. */
const Categories = () => {
  const { client, access, live } = usePage()
  const categories = useSignal<readonly Named[] | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const chosen = chosenId()
  const load = async () => {
    try {
      const found: Named[] = []
      for await (const { id, name } of client.categories.list({ order: 'name', fields: 'id,name' })) {
        if (id !== undefined) found.push({ id, name: name ?? '' })
        // A site with very many shows the first of them meanwhile.
        if (found.length % 500 === 0 && found.length > (categories.value?.length ?? 0)) categories.value = [...found]
      }
      categories.value = found
      failure.value = undefined
    } catch (error) {
      failure.value = error
    }
  }
  useEffect(() => {
    load()
    return live.subscribe((changes) => {
      if (changes.some(isAboutCategories)) load()
    })
  }, [client, access, live])
  const [first] = categories.value ?? []
  useEffect(() => {
    if (chosen === undefined && first && hasRoom()) goTo({ path: [String(first.id)] }, { replace: true })
  }, [chosen, first])
  const category = categories.value?.find(({ id }) => id === chosen)
  return (
    <Chooser
      label={texts.value.categories.list}
      items={categories.value}
      chosen={chosen}
      failure={failure.value}
      onRepeat={load}
      none={texts.value.categories.none}
    >
      {category && categories.value ? (
        <CategoryObjects key={category.id} category={category} categories={categories.value} />
      ) : (
        categories.value && <p class="empty">{texts.value.categories.choose}</p>
      )}
    </Chooser>
  )
}

/** Sites without the new rendering engine have none. */
export const CategoriesView = () =>
  usePage().client.site.renderingEngine ? (
    <Categories />
  ) : (
    <div class="empty">
      <Icon name="category" />
      <p>{texts.value.categories.engineOff}</p>
    </div>
  )
