import { useComputed, useSignal } from '@preact/signals'
import { useCallback, useEffect, useLayoutEffect, useMemo } from 'preact/hooks'
import type { Change, ChangeType } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { ListState } from '../parts/list-state.tsx'
import { Rows } from '../parts/rows.tsx'
import { setter } from '../parts/setter.ts'
import { goTo, route } from '../route/routes.ts'
import { enViews } from '../texts/en-views.ts'
import { locale, texts } from '../texts/texts.ts'
import { viewTexts } from '../texts/view-texts.ts'
import { ChangeDialog } from './change-dialog.tsx'
import { type ChangeGroup, linesOf } from './change-lines.ts'
import { ChangeRow, GroupRow } from './change-row.tsx'
import { HistoryFilter } from './history-filter.tsx'
import { createHistoryStore, type Filter } from './history-store.ts'

const types = Object.keys(enViews.history.types) as ChangeType[]

const dayName = (day: Date): string => {
  const t = viewTexts.value.history
  const daysAgo = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(day).setHours(0, 0, 0, 0)) / 86_400_000)
  const date = day.toLocaleDateString(locale.value, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
  return daysAgo === 0 ? `${t.today}, ${date}` : daysAgo === 1 ? `${t.yesterday}, ${date}` : date
}

const filterIn = ({ what = '', who = '', where = '' }: Readonly<Record<string, string>>): Filter => ({
  what,
  who,
  where,
})

export const HistoryView = () => {
  const { client, access, live } = usePage()
  const opened = useSignal<Change>()
  const store = useMemo(
    () => createHistoryStore({ changes: client.changes, types, filter: filterIn(route.value.query) }),
    [client],
  )
  useEffect(() => {
    store.load()
    return live.subscribe(store.receive)
  }, [store, access, live])
  const filter = store.filter.value
  useLayoutEffect(() => {
    goTo({ query: { ...filter } }, { replace: true })
  }, [filter])
  const open = useSignal<ReadonlySet<string>>(new Set())
  const lines = useComputed(() => linesOf(store.changes.value ?? [], open.value))
  const toggle = ({ changes }: ChangeGroup, isOpen: boolean) => {
    const ids = new Set(changes.map(({ id }) => id))
    open.value = isOpen ? open.value.difference(ids) : open.value.union(ids)
  }
  const t = viewTexts.value.history
  const box = useRetainedFocus<HTMLDivElement>()
  const changes = store.changes.value
  const failure = store.failure.value
  // If the end of the list is still visible after a read, the next read follows.
  const readOlder = useCallback(() => void store.readOlder(), [store, changes?.length])
  const isNarrow = Object.values(filter).some((value) => value !== '')
  return (
    <div ref={box} class="history" tabIndex={-1}>
      <HistoryFilter store={store} types={types} />
      <ListState items={changes} failure={failure?.error} onRepeat={failure?.repeat} />
      <p class="unseen" role="status">
        {changes && texts.value.items(changes.length)}
      </p>
      {changes?.length === 0 && (
        <Empty icon={isNarrow ? 'search' : 'history'} title={isNarrow ? t.nothingFound : t.none} />
      )}
      {changes && changes.length > 0 && (
        <section class="history-list" aria-label={t.list} aria-busy={store.isLoading.value}>
          <Rows
            items={lines.value}
            onEnd={readOlder}
            row={(line) => {
              if ('day' in line) return <h2 key={line.day.toDateString()}>{dayName(line.day)}</h2>
              if ('group' in line) {
                const { group, isOpen } = line
                return (
                  <GroupRow
                    key={`group ${group.changes.at(-1)?.id}`}
                    group={group}
                    isOpen={isOpen}
                    onToggle={() => toggle(group, isOpen)}
                  />
                )
              }
              const { change, within } = line
              return <ChangeRow key={change.id} change={change} within={within} onOpen={setter(opened, change)} />
            }}
          />
        </section>
      )}
      {store.hasMore.value && (
        <div class="history-limit soft">
          <p role="status">{store.isLoading.value ? texts.value.loading : t.limited(store.known.value)}</p>
          <Button onClick={store.readOlder}>{t.readOlder}</Button>
        </div>
      )}
      {opened.value && <ChangeDialog change={opened.value} onClose={setter(opened, undefined)} />}
    </div>
  )
}
