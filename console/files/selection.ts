/** `active` has the keyboard focus; `anchor` is the start of a range. */
export interface Selection {
  readonly chosen: ReadonlySet<string>
  readonly active: string | undefined
  readonly anchor: string | undefined
}

export const nothing: Selection = { chosen: new Set(), active: undefined, anchor: undefined }

/**
 * Selects only this entry (`alone`), adds or removes it (`toggle`), or selects everything from the anchor to it
 * (`range`).
 */
export type SelectionMode = 'alone' | 'toggle' | 'range'

const range = (names: readonly string[], from: string | undefined, to: string): ReadonlySet<string> => {
  const [start, end] = [names.indexOf(from ?? to), names.indexOf(to)]
  const first = start < 0 ? end : Math.min(start, end)
  return new Set(names.slice(first, Math.max(start, end) + 1))
}

export const choose = (
  selection: Selection,
  names: readonly string[],
  name: string,
  mode: SelectionMode,
): Selection => {
  if (mode === 'range') {
    const anchor = selection.anchor ?? name
    return { chosen: range(names, anchor, name), active: name, anchor }
  }
  if (mode === 'alone') return { chosen: new Set([name]), active: name, anchor: name }
  return { chosen: selection.chosen.symmetricDifference(new Set([name])), active: name, anchor: name }
}

/** Moves the focus by this number of rows; `Infinity` moves it to the end. `toggle` moves only the focus. */
export const step = (selection: Selection, names: readonly string[], by: number, mode: SelectionMode): Selection => {
  const now = selection.active === undefined ? (by > 0 ? -1 : names.length) : names.indexOf(selection.active)
  const name = names[Math.max(0, Math.min(names.length - 1, now + by))]
  if (name === undefined) return selection
  return mode === 'toggle' ? { ...selection, active: name } : choose(selection, names, name, mode)
}

export const chooseAll = (selection: Selection, names: readonly string[]): Selection => ({
  ...selection,
  chosen: new Set(names),
})

/**
 * Returns the selection after a change of the list, without the names that the list no longer contains. The focus keeps
 * its position.
 */
export const retain = (selection: Selection, before: readonly string[], names: readonly string[]): Selection => {
  const there = new Set(names)
  const keep = (name: string | undefined): string | undefined => {
    if (name === undefined || there.has(name)) return name
    return names[Math.min(Math.max(0, before.indexOf(name)), names.length - 1)]
  }
  return {
    chosen: selection.chosen.intersection(there),
    active: keep(selection.active),
    anchor: keep(selection.anchor),
  }
}
