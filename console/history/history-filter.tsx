import { useId } from 'preact/hooks'
import type { ChangeType } from '../../client/src/index.ts'
import { Button } from '../parts/button.tsx'
import { useDebouncedField } from '../parts/debounced-field.ts'
import { Labelled } from '../parts/fields.tsx'
import { viewTexts } from '../texts/view-texts.ts'
import { groupOf, groups, type HistoryStore } from './history-store.ts'

interface HistoryFilterProps {
  readonly store: HistoryStore
  readonly types: readonly ChangeType[]
}

export const HistoryFilter = ({ store, types }: HistoryFilterProps) => {
  const t = viewTexts.value.history
  const [what, who, where] = [useId(), useId(), useId()]
  const filter = store.filter.value
  const text = useDebouncedField(filter.where, (value) => store.setFilter({ where: value }))
  const isNarrow = Object.values(filter).some((value) => value !== '')
  const actors =
    filter.who === '' || store.actors.value.includes(filter.who)
      ? store.actors.value
      : [filter.who, ...store.actors.value]
  return (
    <form class="history-filter" role="search" onSubmit={(event) => event.preventDefault()}>
      <Labelled id={what} label={t.what}>
        <select
          id={what}
          value={filter.what}
          onChange={({ currentTarget }) => store.setFilter({ what: currentTarget.value })}
        >
          <option value="">{t.everything}</option>
          {groups.map((group) => (
            <optgroup key={group} label={t.groups[group]}>
              <option value={group}>
                {t.groups[group]}: {t.everything}
              </option>
              {types
                .filter((type) => groupOf(type) === group)
                .map((type) => (
                  <option key={type} value={type}>
                    {t.types[type]}
                  </option>
                ))}
            </optgroup>
          ))}
        </select>
      </Labelled>
      <Labelled id={where} label={t.where}>
        <input id={where} type="search" placeholder={t.whereHint} {...text} />
      </Labelled>
      <Labelled id={who} label={t.who}>
        <select
          id={who}
          value={filter.who}
          onChange={({ currentTarget }) => store.setFilter({ who: currentTarget.value })}
        >
          <option value="">{t.everybody}</option>
          {actors.map((actor) => (
            <option key={actor} value={actor}>
              {actor}
            </option>
          ))}
        </select>
      </Labelled>
      {isNarrow && (
        <Button kind="quiet" icon="close" onClick={() => store.setFilter({ what: '', who: '', where: '' })}>
          {t.clear}
        </Button>
      )}
    </form>
  )
}
