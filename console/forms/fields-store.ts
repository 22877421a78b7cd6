import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Field, FieldChange, FieldTypeId, NewSystemField, SiteClient } from '../../client/src/index.ts'

/** An action on a field that failed. */
export interface Trouble {
  readonly field: Field
  /** Undefined if somebody else was faster: nothing was sent. */
  readonly error?: unknown
  /** Does it in spite of what is there now; absent where the field has gone. */
  readonly repeat?: (() => void) | undefined
}

/** The system fields of one form, as they stand, and what can be done to them. */
export interface FieldsStore {
  /** In their order; undefined until they are first read. */
  readonly fields: ReadonlySignal<readonly Field[] | undefined>
  readonly failure: ReadonlySignal<unknown>
  readonly trouble: ReadonlySignal<Trouble | undefined>
  load(): Promise<void>
  setMandatory(id: number, mandatory: boolean): Promise<void>
  /** Puts a field in front of the one that stands at an index now, or last. */
  move(id: number, before: number): Promise<void>
  /** So many places up (negative) or down. */
  moveBy(id: number, step: number): Promise<void>
  /** Answers the field as it was, when it is gone. */
  remove(id: number): Promise<Field | undefined>
  /** Rejects with what the service says. */
  add(field: NewSystemField): Promise<void>
  /** Puts a field back that was removed. */
  putBack(field: Field): Promise<void>
  dismiss(): void
}

interface Deps {
  readonly forms: SiteClient['forms']
  readonly form: number
}

/** The position that puts a field in front of the one at `before` (F-23, F-24). */
export const positionBefore = (fields: readonly Field[], before: number): number => {
  const next = fields[before]
  if (next) return next.order
  return (fields.at(-1)?.order ?? 0) + 1
}

/** The list with one field in front of the one at an index. */
export const reordered = (fields: readonly Field[], id: number, before: number): readonly Field[] => {
  const moved = fields.find((field) => field.id === id)
  if (!moved) return fields
  const without = (part: readonly Field[]) => part.filter((field) => field !== moved)
  return [...without(fields.slice(0, before)), moved, ...without(fields.slice(before))]
}

const stateOf = ({ id, name, mandatory, order }: Field) => `${id} ${order} ${mandatory} ${name}`

const isSame = (one: readonly Field[], other: readonly Field[]): boolean =>
  one.map(stateOf).join('\n') === other.map(stateOf).join('\n')

/** The stored field is still as the reader saw it. */
type Holds = (now: Field) => boolean | Promise<boolean>

const createReader = (forms: Deps['forms'], form: number) => {
  const fields = signal<readonly Field[] | undefined>(undefined)
  const failure = signal<unknown>(undefined)
  let reads = 0

  const read = async (): Promise<readonly Field[]> => {
    const found: Field[] = []
    for await (const field of forms.fields(form)) found.push(field)
    return found
  }

  return {
    fields,
    failure,
    read,
    async load(): Promise<void> {
      const own = ++reads
      try {
        const found = await read()
        if (own !== reads) return
        failure.value = undefined
        // The same fields are not drawn again.
        if (!fields.value || !isSame(found, fields.value)) fields.value = found
      } catch (error) {
        if (own === reads) failure.value = error
      }
    },
    /** Shows fields before they are stored. Reads that run already are dropped. */
    show(list: readonly Field[] | undefined): void {
      reads++
      fields.value = list
    },
  }
}

// One action after another: a held key moves a field step by step.
const createQueue = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <Value>(work: () => Promise<Value>): Promise<Value> => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
}

/** Sends a change unless the field has changed since it was shown. */
const createSender =
  ({ forms, form }: Deps, { fields, load }: ReturnType<typeof createReader>, trouble: Signal<Trouble | undefined>) =>
  async (shown: Field, holds: Holds, work: (etag: string) => Promise<void>, again: () => void): Promise<boolean> => {
    trouble.value = undefined
    try {
      const now = await forms.field(form, shown.id)
      if (await holds(now)) {
        await work(now.etag)
        return true
      }
      trouble.value = { field: shown, repeat: again }
    } catch (error) {
      trouble.value = { field: shown, error, repeat: again }
    } finally {
      await load()
      // A removed field leaves nothing to repeat.
      const isGone = !fields.value?.some(({ id }) => id === shown.id)
      if (trouble.value && isGone) trouble.value = { ...trouble.value, repeat: undefined }
    }
    return false
  }

export const createFieldsStore = ({ forms, form }: Deps): FieldsStore => {
  const reader = createReader(forms, form)
  const { fields, failure, read, load, show } = reader
  const trouble = signal<Trouble | undefined>(undefined)
  const inTurn = createQueue()
  const send = createSender({ forms, form }, reader, trouble)

  const fieldOf = (id: number) => fields.value?.find((field) => field.id === id)

  const change = (shown: Field, wanted: FieldChange, holds: Holds, again: () => void) =>
    send(shown, holds, (etag) => forms.change(form, shown.id, wanted, { etag }), again)

  const place = async (id: number, target: (list: readonly Field[], index: number) => number): Promise<void> => {
    const list = fields.value ?? []
    const index = list.findIndex((field) => field.id === id)
    const shown = list[index]
    const before = Math.max(0, Math.min(list.length, target(list, index)))
    if (!shown || before === index || before === index + 1) return
    show(reordered(list, id, before))
    const holds = async () => isSame(await read(), list)
    const again = () => void inTurn(() => place(id, target))
    await change(shown, { order: positionBefore(list, before) }, holds, again)
  }

  const setMandatory = async (id: number, mandatory: boolean): Promise<void> => {
    const shown = fieldOf(id)
    if (!shown || shown.mandatory === mandatory) return
    show(fields.value?.map((field) => (field === shown ? { ...field, mandatory } : field)))
    const holds: Holds = (now) => now.mandatory === shown.mandatory
    await change(shown, { mandatory }, holds, () => void inTurn(() => setMandatory(id, mandatory)))
  }

  const remove = async (id: number): Promise<Field | undefined> => {
    const shown = fieldOf(id)
    if (!shown) return undefined
    const holds: Holds = (now) => now.mandatory === shown.mandatory
    const isGone = await send(
      shown,
      holds,
      (etag) => forms.remove(form, id, { etag }),
      () => void inTurn(() => remove(id)),
    )
    return isGone ? shown : undefined
  }

  const add = async (field: NewSystemField): Promise<void> => {
    trouble.value = undefined
    try {
      await forms.add(form, field)
    } finally {
      await load()
    }
  }

  const putBack = async (field: Field): Promise<void> => {
    const again = asNew(field)
    if (!again) return
    try {
      await add(again)
    } catch (error) {
      trouble.value = { field, error, repeat: () => void inTurn(() => putBack(field)) }
    }
  }

  return {
    fields,
    failure,
    trouble,
    load,
    setMandatory: (id, mandatory) => inTurn(() => setMandatory(id, mandatory)),
    move: (id, before) => inTurn(() => place(id, () => before)),
    moveBy: (id, step) => inTurn(() => place(id, (_, index) => index + step + (step > 0 ? 1 : 0))),
    remove: (id) => inTurn(() => remove(id)),
    add: (field) => inTurn(() => add(field)),
    putBack: (field) => inTurn(() => putBack(field)),
    dismiss() {
      trouble.value = undefined
    },
  }
}

/** The body that restores a removed field; undefined for a field that only an import can store. */
export const asNew = ({ id, mandatory, order }: Field): NewSystemField | undefined =>
  id === -400 ? undefined : { type: id satisfies FieldTypeId, mandatory, order }
