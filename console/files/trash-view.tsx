import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { TrashItem } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { keptDays } from '../page/kept-days.ts'
import { createNewestRead, type Work } from '../page/newest-read.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { formatMoment, formatSize } from '../parts/format.ts'
import { ListState } from '../parts/list-state.tsx'
import { texts } from '../texts/texts.ts'
import { forEachPath } from '../uploads/for-each-path.ts'
import { nameOf } from '../uploads/paths.ts'
import { EntryIcon, EntryPlace } from './entry-icon.tsx'
import { restoreAndNotify } from './notified-actions.ts'
import { restoreItem } from './restore-item.ts'

/** The list grows by this many items at a time. */
const growth = 100

interface TrashRowProps {
  readonly item: TrashItem
  readonly isChosen: boolean
  readonly canRestore: boolean
  readonly onChoose: () => void
}

const TrashRow = ({ item, isChosen, canRestore, onChoose }: TrashRowProps) => {
  const t = texts.value.files
  const name = nameOf(item.path)
  return (
    <tr class={isChosen ? 'is-chosen' : ''}>
      <td class="items-check">
        {canRestore && (
          <input type="checkbox" checked={isChosen} aria-label={t.chooseRow(item.path)} onChange={onChoose} />
        )}
      </td>
      <td>
        <span class="trash-name">
          <EntryIcon name={name} type={item.type} />
          <EntryPlace path={item.path} />
        </span>
      </td>
      <td>
        <bdi>{item.removedBy}</bdi>
      </td>
      <td class="items-date">{formatMoment(item.removedAt)}</td>
      <td class="trash-size">{item.size === null ? '' : formatSize(item.size)}</td>
    </tr>
  )
}

const useTrash = (onRestored: () => void) => {
  const { client, access, live } = usePage()
  const items = useSignal<readonly TrashItem[]>()
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const hasMore = useSignal(false)
  const isBusy = useSignal(false)
  const { failure, run, runLater, drop } = useMemo(createNewestRead, [])
  const shown = useRef(growth)

  const readItems: Work = async (isNewest) => {
    const count = shown.current
    const found: TrashItem[] = []
    for await (const item of client.files.trash()) {
      if (!isNewest()) return
      if (found.push(item) > count) break
    }
    if (!isNewest()) return
    items.value = found.slice(0, count)
    hasMore.value = found.length > count
    chosen.value = chosen.value.intersection(new Set(found.map(({ path }) => path)))
    failure.value = undefined
  }
  const read = () => run(readItems)
  useEffect(() => {
    read()
    const unsubscribe = live.subscribe((changes) => {
      if (changes.some(({ type }) => /^(file|folder)\.(removed|restored|purged)$/.test(type))) runLater(readItems)
    })
    return () => {
      drop()
      unsubscribe()
    }
  }, [client, access, live])

  const restore = async (paths: readonly string[]) => {
    isBusy.value = true
    const outcome = await forEachPath(paths, (path) => restoreItem(client, path))
    chosen.value = new Set()
    await read()
    isBusy.value = false
    onRestored()
    return outcome
  }
  const choose = (path: string) => {
    chosen.value = chosen.value.symmetricDifference(new Set([path]))
  }
  return {
    items: items.value,
    chosen: chosen.value,
    hasMore: hasMore.value,
    isBusy: isBusy.value,
    failure: failure.value,
    read,
    showMore() {
      shown.current += growth
      return read()
    },
    restore: (paths: readonly string[]) => restoreAndNotify(restore, paths),
    choose,
    chooseOnly(paths: readonly string[]) {
      chosen.value = new Set(paths)
    },
  }
}

type Trash = ReturnType<typeof useTrash>

const TrashTable = ({ trash, items }: { readonly trash: Trash; readonly items: readonly TrashItem[] }) => {
  const { rights } = usePage()
  const t = texts.value.files
  const restorable = items.map(({ path }) => path).filter(rights.canWrite)
  const isAll = restorable.every((path) => trash.chosen.has(path))
  return (
    <table class="items" aria-label={texts.value.nav.trash} aria-busy={trash.isBusy}>
      <thead>
        <tr>
          <th class="items-check">
            {restorable.length > 0 && (
              <input
                type="checkbox"
                aria-label={t.chooseAllDeleted}
                checked={isAll}
                onChange={() => trash.chooseOnly(isAll ? [] : restorable)}
              />
            )}
          </th>
          <th scope="col">{t.columns.name}</th>
          <th scope="col">{t.removedBy}</th>
          <th scope="col">{t.removedAt}</th>
          <th scope="col" class="trash-size">
            {t.columns.size}
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <TrashRow
            key={`${item.type} ${item.path}`}
            item={item}
            isChosen={trash.chosen.has(item.path)}
            canRestore={rights.canWrite(item.path)}
            onChoose={() => trash.choose(item.path)}
          />
        ))}
      </tbody>
    </table>
  )
}

/** Shows everything that was removed from the site and can be restored. */
export const TrashView = () => {
  const t = texts.value.files
  const title = texts.value.nav.trash
  const heading = useRef<HTMLHeadingElement>(null)
  const box = useRetainedFocus<HTMLElement>()
  const trash = useTrash(() => heading.current?.focus())
  const { rights } = usePage()
  const { items, chosen, failure } = trash
  return (
    <section ref={box} class="trash" tabIndex={-1} aria-label={title}>
      <header class="trash-head">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {rights.has('files:write') && (
          <Button icon="restore" kind="primary" disabled={chosen.size === 0} onClick={() => trash.restore([...chosen])}>
            {chosen.size === 0 ? t.restore : t.restoreMany(chosen.size)}
          </Button>
        )}
      </header>
      <ListState items={items} failure={failure} onRepeat={trash.read} />
      {items?.length === 0 && <Empty icon="restore" title={t.deletedNone(keptDays())} />}
      {items && items.length > 0 && <TrashTable trash={trash} items={items} />}
      {trash.hasMore && <Button onClick={trash.showMore}>{t.showMore}</Button>}
    </section>
  )
}
