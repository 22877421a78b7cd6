import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Field, FieldChange, FieldTypeId, SiteClient, SystemFieldCreation } from '../../client/src/index.ts'
import { createNewestRead } from '../page/newest-read.ts'
import { hasOwnName } from './field-names.ts'

export interface Trouble {
  readonly field: Field
  /** If undefined, somebody else changed the field first, and nothing was sent. */
  readonly error?: unknown
  /** Overwrites the other change. Absent if the field no longer exists. */
  readonly repeat?: (() => void) | undefined
}

export interface FieldsStore {
  /** The fields in their order. Undefined until the first read. */
  readonly fields: ReadonlySignal<readonly Field[] | undefined>
  readonly failure: ReadonlySignal<unknown>
  readonly trouble: ReadonlySignal<Trouble | undefined>
  load(): Promise<void>
  setMandatory(id: number, mandatory: boolean): Promise<void>
  /** Moves a field before the field with the index `before`, or to the end. */
  move(id: number, before: number): Promise<void>
  moveBy(id: number, step: number): Promise<void>
  remove(id: number): Promise<Field | undefined>
  /** Rejects with the error of the service. */
  add(field: SystemFieldCreation): Promise<void>
  undoRemoval(field: Field): Promise<void>
  dismiss(): void
}

interface Deps {
  readonly forms: SiteClient['forms']
  readonly form: number
}

/** Returns the position that places a field before the field with the index `before` (F-23, F-24). */
export const positionBefore = (fields: readonly Field[], before: number): number => {
  const next = fields[before]
  if (next) return next.order
  return (fields.at(-1)?.order ?? 0) + 1
}

export const reordered = (fields: readonly Field[], id: number, before: number): readonly Field[] => {
  const moved = fields.find((field) => field.id === id)
  if (!moved) return fields
  const without = (part: readonly Field[]) => part.filter((field) => field !== moved)
  return [...without(fields.slice(0, before)), moved, ...without(fields.slice(before))]
}

const stateOf = ({ id, name, mandatory, order }: Field) => `${id} ${order} ${mandatory} ${name}`

const isSame = (one: readonly Field[], other: readonly Field[]): boolean =>
  one.map(stateOf).join('\n') === other.map(stateOf).join('\n')

/** True if the stored field is unchanged since the user saw it. */
type IsUnchanged = (now: Field) => boolean | Promise<boolean>

const createReader = (forms: Deps['forms'], form: number) => {
  const fields = signal<readonly Field[]>()
  const { failure, run, drop } = createNewestRead()

  const read = (): Promise<readonly Field[]> => Array.fromAsync(forms.fields(form))

  return {
    fields,
    failure,
    read,
    load: () =>
      run(async (isNewest) => {
        const found = await read()
        if (!isNewest()) return
        failure.value = undefined
        if (!fields.value || !isSame(found, fields.value)) fields.value = found
      }),
    /** Shows fields before the service has stored them, and ignores the results of running reads. */
    show(list: readonly Field[] | undefined): void {
      drop()
      fields.value = list
    },
  }
}

// Actions run one after the other. So a key that the user holds down moves a field step by step.
const createQueue = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <Value>(work: () => Promise<Value>): Promise<Value> => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
}

/** Sends a change only if the service still has the field as the page has shown it. */
const createSender =
  ({ forms, form }: Deps, { fields, load }: ReturnType<typeof createReader>, trouble: Signal<Trouble | undefined>) =>
  async (
    shown: Field,
    isUnchanged: IsUnchanged,
    work: (etag: string) => Promise<void>,
    repeat: () => void,
  ): Promise<boolean> => {
    trouble.value = undefined
    try {
      const now = await forms.field(form, shown.id)
      if (await isUnchanged(now)) {
        await work(now.etag)
        return true
      }
      trouble.value = { field: shown, repeat }
    } catch (error) {
      trouble.value = { field: shown, error, repeat }
    } finally {
      await load()
      // If the field was removed, there is no change to repeat.
      const isGone = !fields.value?.some(({ id }) => id === shown.id)
      if (trouble.value && isGone) trouble.value = { ...trouble.value, repeat: undefined }
    }
    return false
  }

export const createFieldsStore = ({ forms, form }: Deps): FieldsStore => {
  const reader = createReader(forms, form)
  const { fields, failure, read, load, show } = reader
  const trouble = signal<Trouble>()
  const enqueue = createQueue()
  const send = createSender({ forms, form }, reader, trouble)

  const fieldOf = (id: number) => fields.value?.find((field) => field.id === id)

  /** Shows the fields as `next` before the service has stored the change. */
  const change = async (
    next: readonly Field[] | undefined,
    shown: Field,
    wanted: FieldChange,
    isUnchanged: IsUnchanged,
    repeat: () => void,
  ) => {
    const before = fields.value
    show(next)
    const isDone = await send(shown, isUnchanged, (etag) => forms.change(form, shown.id, wanted, { etag }), repeat)
    // If the form cannot be read now, the last known state returns, so that `repeat` has something to change.
    if (!isDone && failure.value !== undefined) show(before)
  }

  const place = async (id: number, target: (list: readonly Field[], index: number) => number): Promise<void> => {
    const list = fields.value ?? []
    const index = list.findIndex((field) => field.id === id)
    const shown = list[index]
    const before = Math.max(0, Math.min(list.length, target(list, index)))
    if (!shown || before === index || before === index + 1) return
    const isUnchanged = async () => isSame(await read(), list)
    const repeat = () => void enqueue(() => place(id, target))
    await change(reordered(list, id, before), shown, { order: positionBefore(list, before) }, isUnchanged, repeat)
  }

  const setMandatory = async (id: number, mandatory: boolean): Promise<void> => {
    const shown = fieldOf(id)
    if (!shown || shown.mandatory === mandatory) return
    const next = fields.value?.map((field) => (field === shown ? { ...field, mandatory } : field))
    const isUnchanged: IsUnchanged = (now) => now.mandatory === shown.mandatory
    await change(next, shown, { mandatory }, isUnchanged, () => void enqueue(() => setMandatory(id, mandatory)))
  }

  const remove = async (id: number): Promise<Field | undefined> => {
    const shown = fieldOf(id)
    if (!shown) return undefined
    const isUnchanged: IsUnchanged = (now) => now.mandatory === shown.mandatory
    const isGone = await send(
      shown,
      isUnchanged,
      (etag) => forms.remove(form, id, { etag }),
      () => void enqueue(() => remove(id)),
    )
    return isGone ? shown : undefined
  }

  const add = async (field: SystemFieldCreation): Promise<void> => {
    trouble.value = undefined
    try {
      await forms.add(form, field)
    } finally {
      await load()
    }
  }

  const undoRemoval = async (field: Field): Promise<void> => {
    const repeat = toNewField(field)
    if (!repeat) return
    try {
      await add(repeat)
    } catch (error) {
      trouble.value = { field, error, repeat: () => void enqueue(() => undoRemoval(field)) }
    }
  }

  return {
    fields,
    failure,
    trouble,
    load,
    setMandatory: (id, mandatory) => enqueue(() => setMandatory(id, mandatory)),
    move: (id, before) => enqueue(() => place(id, () => before)),
    moveBy: (id, step) => enqueue(() => place(id, (_, index) => index + step + (step > 0 ? 1 : 0))),
    remove: (id) => enqueue(() => remove(id)),
    add: (field) => enqueue(() => add(field)),
    undoRemoval: (field) => enqueue(() => undoRemoval(field)),
    dismiss() {
      trouble.value = undefined
    },
  }
}

/** Returns the body that restores a removed field. Undefined if only an import can store the field. */
export const toNewField = (field: Field): SystemFieldCreation | undefined => {
  const { id, mandatory, order } = field
  return id === -400 || hasOwnName(field) ? undefined : { type: id satisfies FieldTypeId, mandatory, order }
}
