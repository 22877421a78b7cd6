import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { Icon } from '../parts/icon.tsx'
import { Rows } from '../parts/rows.tsx'
import { texts } from '../texts/texts.ts'
import { isWithin, join, parentOf, partsOf } from '../uploads/paths.ts'
import { collator } from './arrange.ts'
import { useFiles } from './files-context.ts'
import type { Relocation } from './files-store.ts'
import { relocateAndNotify } from './notified-actions.ts'

const rowHeight = 36

interface RelocateDialogProps {
  readonly how: Relocation
  readonly paths: readonly string[]
}

interface FolderChoiceProps {
  readonly target: string
  /** A folder cannot be moved into itself. */
  readonly refused: readonly string[]
  readonly onTarget: (path: string) => void
}

/** Clicking through folders has the same effect as typing a path. */
const FolderChoice = ({ target, refused, onTarget }: FolderChoiceProps) => {
  const { client } = usePage()
  const names = useSignal<readonly string[]>([])
  useEffect(() => {
    let isWanted = true
    const read = async () => {
      const found: string[] = []
      for await (const { name, type } of client.files.list(target)) {
        if (!isWanted) return
        if (type === 'folder') found.push(name)
      }
      if (isWanted) names.value = found.sort(collator.compare)
    }
    // Waits until the user stops typing. A folder that does not exist yet has no subfolders.
    const timer = setTimeout(() => {
      read().catch(() => {
        if (isWanted) names.value = []
      })
    }, 150)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [target])
  const offered = names.value.filter((name) => !refused.includes(join(target, name)))
  const box = useRetainedFocus<HTMLDivElement>()
  const up = target === '' ? [] : [{ path: parentOf(target), name: parentOf(target) || texts.value.files.root }]
  const steps = [...up, ...offered.map((name) => ({ path: join(target, name), name }))]
  if (steps.length === 0) return null
  return (
    <div ref={box} class="folder-choice" tabIndex={-1} style={{ height: `${steps.length * rowHeight}px` }}>
      <Rows
        list={texts.value.files.folders}
        count={steps.length}
        height={rowHeight}
        row={(index) => {
          const step = steps[index]
          return (
            step && (
              <div key={step.path} role="listitem">
                <button type="button" onClick={() => onTarget(step.path)}>
                  <Icon name={index < up.length ? 'up' : 'folder'} />
                  <bdi>{step.name}</bdi>
                </button>
              </div>
            )
          )
        }}
      />
    </div>
  )
}

/** An alternative to dragging, for the keyboard. */
export const RelocateDialog = ({ how, paths }: RelocateDialogProps) => {
  const { store, rights } = useFiles()
  const [field, hint] = [useId(), useId()]
  const t = texts.value.files
  const text = useSignal(`/${store.folder.path.value}`)
  const target = partsOf(text.value).join('/')
  const isUseful = paths.every((path) => parentOf(path) !== target && !isWithin(target, path))
  return (
    <FormDialog
      changesList
      title={how === 'move' ? t.moveTitle(paths.length) : t.copyTitle(paths.length)}
      action={how === 'move' ? t.moveAction : t.copyAction}
      isReady={isUseful && rights.canWrite(target)}
      onSubmit={() => relocateAndNotify(store, how, paths, target)}
      onClose={() => {
        store.dialog.value = undefined
      }}
    >
      <div class="field">
        <label for={field}>{t.target}</label>
        <input
          id={field}
          value={text.value}
          autoComplete="off"
          spellcheck={false}
          aria-describedby={hint}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
          }}
        />
        <p id={hint} class="hint">
          {t.targetHint}
        </p>
      </div>
      <FolderChoice
        target={target}
        refused={how === 'move' ? paths : []}
        onTarget={(path) => {
          text.value = `/${path}`
        }}
      />
    </FormDialog>
  )
}
