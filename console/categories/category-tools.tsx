import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { linkTo } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { type Kind, kinds, type ListStore } from './objects-store.ts'

export const KindTabs = ({ kind }: { readonly kind: Kind }) => {
  const t = viewTexts.value.categories
  return (
    <nav class="tabs" aria-label={t.kind}>
      {kinds.map((each) => (
        <a key={each} href={linkTo({ query: { kind: each } })} aria-current={each === kind ? 'page' : undefined}>
          {t.kinds[each]}
        </a>
      ))}
    </nav>
  )
}

export const ChosenTools = ({ list, onUnlink }: { readonly list: ListStore; readonly onUnlink: () => void }) => {
  const t = texts.value.files
  const { size } = list.chosen.value
  return (
    <div class="chosen-tools" role="group">
      <span role="status">{t.chosen(size)}</span>
      <Button kind="danger" icon="close" onClick={onUnlink}>
        {viewTexts.value.categories.unlink(size)}
      </Button>
      <Button kind="quiet" onClick={list.clear}>
        {t.clearSelection}
      </Button>
    </div>
  )
}

export const NoItems = ({ kind, isSearch }: { readonly kind: Kind; readonly isSearch: boolean }) =>
  isSearch ? (
    <Empty icon="search" title={viewTexts.value.categories.nothingFound} />
  ) : (
    <Empty icon="category" title={viewTexts.value.categories.empty[kind]} />
  )
