import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Change } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import type { Named } from '../parts/chooser.tsx'
import { Failure } from '../parts/failure.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { notify, notifyFailure } from '../parts/toasts.tsx'
import { goTo, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { ChosenTools, KindTabs, NoItems } from './category-tools.tsx'
import { ItemsTable, titleOf } from './items-table.tsx'
import { LinkObjectsDialog } from './link-objects-dialog.tsx'
import { parseListView, queryFor } from './list-address.ts'
import { Pages, Search } from './list-tools.tsx'
import { ObjectDialog } from './object-dialog.tsx'
import { createListStore, type Item, inChunks, kinds, readLinked } from './objects-store.ts'

interface CategoryProps {
  readonly category: Named
  readonly categories: readonly Named[]
}

const isAboutObjects = ({ type }: Change): boolean => /^(link|object|content)\./.test(type)

export const CategoryObjects = ({ category, categories }: CategoryProps) => {
  const t = viewTexts.value.categories
  const { client, access, live, rights } = usePage()
  const canWrite = rights.has('categories:write')
  const kind = kinds.find((each) => each === route.value.query['kind']) ?? 'news'
  const isLinking = useSignal(false)
  const opened = useSignal<Item | undefined>(undefined)
  const list = useMemo(
    () =>
      createListStore(
        (view) => readLinked(client.categories, category.id, kind, view),
        parseListView(route.value.query),
      ),
    [client, category.id, kind],
  )
  useEffect(() => {
    list.load()
    return live.subscribe((changes) => {
      if (changes.some(isAboutObjects)) list.load()
    })
  }, [list, access, live])
  const view = list.view.value
  useEffect(() => {
    goTo({ query: queryFor(kind, view) }, { replace: true })
  }, [kind, view])

  const unlink = async (items: readonly Item[]) => {
    const ids = items.map(({ id }) => id)
    try {
      await inChunks(ids, (some) => client.categories[kind].unlink(category.id, some))
      list.clear()
      notify(t.unlinked(ids.length), { label: texts.value.undo, run: () => relink(items) })
    } catch (error) {
      notifyFailure('', error, () => unlink(items))
    }
    await list.load()
  }
  const relink = async (items: readonly Item[]) => {
    try {
      for (const displayable of [true, false]) {
        const ids = items.filter(({ isDisplayable }) => isDisplayable === displayable).map(({ id }) => id)
        await inChunks(ids, (some) => client.categories[kind].link(category.id, some, { displayable }))
      }
      notify(t.linked(items.length))
    } catch (error) {
      notifyFailure('', error, () => relink(items))
    }
    await list.load()
  }
  const display = async (item: Item, displayable: boolean) => {
    try {
      await client.categories[kind].link(category.id, [item.id], { displayable })
    } catch (error) {
      notifyFailure(`${titleOf(item)}:`, error, () => display(item, displayable))
    }
    await list.load()
  }

  const page = list.page.value
  const pane = useRetainedFocus<HTMLDivElement>()
  return (
    <div ref={pane} class="pane" tabIndex={-1}>
      <div class="pane-head">
        <h2>
          <bdi>{category.name}</bdi>
        </h2>
        <KindTabs kind={kind} />
        {canWrite && (
          <Button
            kind="primary"
            icon="plus"
            onClick={() => {
              isLinking.value = true
            }}
          >
            {t.link[kind]}
          </Button>
        )}
      </div>
      <div class="pane-head">
        <Search list={list} />
        {canWrite && list.chosen.value.size > 0 && (
          <ChosenTools list={list} onUnlink={() => unlink([...list.chosen.value.values()])} />
        )}
      </div>
      {list.failure.value !== undefined && <Failure error={list.failure.value} onRepeat={list.load} />}
      {!page && list.failure.value === undefined && <p class="empty">{texts.value.loading}</p>}
      {page?.total === 0 && <NoItems kind={kind} isSearch={view.search.trim() !== ''} />}
      {page && page.total > 0 && (
        <ItemsTable
          label={t.kinds[kind]}
          list={list}
          onOpen={(item) => {
            opened.value = item
          }}
          onDisplay={canWrite ? display : undefined}
        />
      )}
      <Pages list={list} />
      {isLinking.value && (
        <LinkObjectsDialog
          category={category}
          kind={kind}
          onLinked={list.load}
          onClose={() => {
            isLinking.value = false
          }}
        />
      )}
      {opened.value && (
        <ObjectDialog
          item={opened.value}
          kind={kind}
          categories={categories}
          onSaved={list.load}
          onClose={() => {
            opened.value = undefined
          }}
        />
      )}
    </div>
  )
}
