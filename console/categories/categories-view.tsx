import type { Change, SiteClient } from '../../client/src/index.ts'
import { useChosen } from '../page/chosen.ts'
import { usePage } from '../page/context.ts'
import { Chooser, type Named } from '../parts/chooser.tsx'
import { Empty } from '../parts/empty.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { CategoryObjects } from './category-objects.tsx'

const isAboutCategories = ({ type }: Change): boolean => /^(category|content)\./.test(type)

async function* readCategories({ categories }: SiteClient): AsyncGenerator<Named> {
  for await (const { id, name } of categories.list({ order: 'name', fields: 'id,name' })) {
    if (id !== undefined) yield { id, name: name ?? '' }
  }
}

const Categories = () => {
  const { chosen, list } = useChosen(readCategories, isAboutCategories)
  const t = viewTexts.value.categories
  return (
    <Chooser label={t.list} none={{ icon: 'category', title: t.none, hint: t.noneHint }} {...list}>
      {chosen && list.items ? (
        <CategoryObjects key={chosen.id} category={chosen} categories={list.items} />
      ) : (
        list.items && <p class="empty">{t.choose}</p>
      )}
    </Chooser>
  )
}

/** Only sites with the new rendering engine have categories. */
export const CategoriesView = () =>
  usePage().client.site.renderingEngine ? (
    <Categories />
  ) : (
    <Empty icon="category" title={viewTexts.value.categories.engineOff}>
      <p>{viewTexts.value.categories.engineOffHint}</p>
    </Empty>
  )
