import { signal } from '@preact/signals'
import { useLayoutEffect, useMemo } from 'preact/hooks'
import type { Change } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { useLiveLoad } from '../page/live-load.ts'
import { Button } from '../parts/button.tsx'
import type { Named } from '../parts/chooser.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { ListState } from '../parts/list-state.tsx'
import { setter } from '../parts/setter.ts'
import { attemptOrNotify, notify } from '../parts/toasts.tsx'
import { goTo, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { ChosenTools, KindTabs, NoItems } from './category-tools.tsx'
import { ItemsTable, titleOf } from './items-table.tsx'
import { LinkObjectsDialog } from './link-objects-dialog.tsx'
import { parseListView, queryFor } from './list-address.ts'
import { Pages, Search } from './list-tools.tsx'
import { ObjectDialog } from './object-dialog.tsx'
import { createListStore, type Item, inChunks, kinds, readLinked, readLinks } from './objects-store.ts'

interface CategoryProps {
  readonly category: Named
  readonly categories: readonly Named[]
}

const isAboutObjects = ({ type }: Change): boolean => /^(link|object|content)\./.test(type)

export const CategoryObjects = ({ category, categories }: CategoryProps) => {
  const t = viewTexts.value.categories
  const { client, rights } = usePage()
  const canWrite = rights.has('categories:write')
  const kind = kinds.find((each) => each === route.value.query['kind']) ?? 'news'
  const list = useMemo(
    () =>
      createListStore(
        (view, limit) => readLinked(client.categories, category.id, kind, view, limit),
        parseListView(route.value.query),
      ),
    [client, category.id, kind],
  )
  // The dialogs are about objects of this kind, so they close with the list.
  const { isLinking, opened } = useMemo(() => ({ isLinking: signal(false), opened: signal<Item>() }), [list])
  useLiveLoad(list, list.load, isAboutObjects, list.loadLater)
  const view = list.view.value
  useLayoutEffect(() => {
    goTo({ query: queryFor(kind, view) }, { replace: true })
  }, [kind, view])

  /** The list shows the new state even after a failure, because a part of the change may be done. */
  const change = (work: () => Promise<void>, text?: string) => attemptOrNotify(() => work().finally(list.load), text)
  const objects = client.categories[kind]
  const unlink = (ids: readonly number[]) => {
    let links: ReadonlyMap<number, boolean> | undefined
    return change(async () => {
      // Somebody may have changed a link after its object was selected. A repetition finds only the rest.
      links ??= await readLinks(client.categories, category.id, kind, ids)
      const before = links
      await inChunks(ids, (some) => objects.unlink(category.id, some))
      list.clear()
      notify(t.unlinked(ids.length), { label: texts.value.undo, run: () => relink(before) })
    })
  }
  const relink = (links: ReadonlyMap<number, boolean>) =>
    change(async () => {
      for (const displayable of [true, false]) {
        const ids = [...links].filter(([, isDisplayed]) => isDisplayed === displayable).map(([id]) => id)
        await inChunks(ids, (some) => objects.link(category.id, some, { displayable }))
      }
      notify(t.linked(links.size))
    })
  const display = (item: Item, displayable: boolean) =>
    change(() => objects.link(category.id, [item.id], { displayable }), `${titleOf(item)}:`)

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
          <Button kind="primary" icon="plus" onClick={setter(isLinking, true)}>
            {t.link[kind]}
          </Button>
        )}
      </div>
      <div class="pane-head">
        <Search list={list} />
        {canWrite && list.chosen.value.size > 0 && (
          <ChosenTools list={list} onUnlink={() => unlink([...list.chosen.value.keys()])} />
        )}
      </div>
      <ListState items={page} failure={list.failure.value} onRepeat={list.load} />
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
        <LinkObjectsDialog category={category} kind={kind} onLinked={list.load} onClose={setter(isLinking, false)} />
      )}
      {opened.value && (
        <ObjectDialog
          item={opened.value}
          kind={kind}
          categories={categories}
          onSaved={list.load}
          onClose={setter(opened, undefined)}
        />
      )}
    </div>
  )
}
