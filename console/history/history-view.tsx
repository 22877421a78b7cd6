import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Change, ChangeType } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { Rows } from '../parts/rows.tsx'
import { goTo, route } from '../route/routes.ts'
import { en } from '../texts/en.ts'
import { locale, texts } from '../texts/texts.ts'
import { ChangeDialog } from './change-dialog.tsx'
import { ChangeRow } from './change-row.tsx'
import { HistoryFilter } from './history-filter.tsx'
import { createHistoryStore, type Filter } from './history-store.ts'

const types = Object.keys(en.history.types) as ChangeType[]

export type Line = { readonly day: Date } | { readonly change: Change }

export const byDay = (changes: readonly Change[]): readonly Line[] => {
  const lines: Line[] = []
  let before = ''
  for (const change of changes) {
    const day = new Date(change.at)
    if (day.toDateString() !== before) lines.push({ day })
    before = day.toDateString()
    lines.push({ change })
  }
  return lines
}

const dayName = (day: Date): string => {
  const t = texts.value.history
  const daysAgo = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(day).setHours(0, 0, 0, 0)) / 86_400_000)
  const date = day.toLocaleDateString(locale.value, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
  return daysAgo === 0 ? `${t.today}, ${date}` : daysAgo === 1 ? `${t.yesterday}, ${date}` : date
}

const filterIn = ({ what = '', who = '', where = '' }: Readonly<Record<string, string>>): Filter => ({
  what,
  who,
  where,
})

const rowHeight = () => (matchMedia('(max-width: 640px)').matches ? 60 : 40)

export const HistoryView = () => {
  const { client, access, live } = usePage()
  const opened = useSignal<Change | undefined>(undefined)
  const store = useMemo(
    () => createHistoryStore({ changes: client.changes, types, filter: filterIn(route.value.query) }),
    [client],
  )
  useEffect(() => {
    store.load()
    return live.subscribe(store.receive)
  }, [store, access, live])
  const filter = store.filter.value
  useEffect(() => {
    goTo({ query: { ...filter } }, { replace: true })
  }, [filter])
  const lines = useComputed(() => byDay(store.changes.value ?? []))
  const t = texts.value.history
  const changes = store.changes.value
  const isNarrow = Object.values(filter).some((value) => value !== '')
  return (
    <div class="history">
      <HistoryFilter store={store} types={types} />
      {store.failure.value !== undefined && <Failure error={store.failure.value} onRepeat={store.load} />}
      <p class="unseen" role="status">
        {changes && texts.value.items(changes.length)}
      </p>
      {!changes && store.failure.value === undefined && <p class="empty">{texts.value.loading}</p>}
      {changes?.length === 0 && (
        <div class="empty">
          <Icon name={isNarrow ? 'search' : 'history'} />
          <p>{isNarrow ? t.nothingFound : t.none}</p>
        </div>
      )}
      {changes && changes.length > 0 && (
        <section class="history-list" aria-label={t.list} aria-busy={store.isLoading.value}>
          <Rows
            count={lines.value.length}
            height={rowHeight()}
            row={(index) => {
              const line = lines.value[index]
              if (!line) return null
              if ('day' in line) return <h2 key={line.day.toDateString()}>{dayName(line.day)}</h2>
              const { change } = line
              return (
                <ChangeRow
                  key={change.id}
                  change={change}
                  onOpen={() => {
                    opened.value = change
                  }}
                />
              )
            }}
          />
        </section>
      )}
      {store.isLimited.value && (
        <div class="history-limit soft">
          <p role="status">
            {store.readCount.value === undefined ? t.limited(store.known.value) : t.reading(store.readCount.value)}
          </p>
          {store.readCount.value === undefined ? (
            <Button onClick={store.readAll}>{t.readAll}</Button>
          ) : (
            <Button onClick={store.load}>{texts.value.cancel}</Button>
          )}
        </div>
      )}
      {opened.value && (
        <ChangeDialog
          change={opened.value}
          onClose={() => {
            opened.value = undefined
          }}
        />
      )}
    </div>
  )
}
