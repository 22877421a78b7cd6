import { useSignal } from '@preact/signals'
import { FormDialog } from '../parts/dialog.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf, parentOf } from '../uploads/paths.ts'
import type { Upload } from '../uploads/upload-list.ts'
import type { Answer, Uploads } from '../uploads/uploads.ts'
import { folderName } from './commands.ts'

const answers: readonly Answer[] = ['replace', 'both', 'skip']

interface CollisionDialogProps {
  readonly upload: Upload
  readonly uploads: Uploads
}

/** If the user closes the dialog, the file is skipped. */
export const CollisionDialog = ({ upload, uploads }: CollisionDialogProps) => {
  // The question may appear while the user types elsewhere. A stray Enter must not replace a file.
  const answer = useSignal<Answer>('both')
  const isForAll = useSignal(false)
  const t = texts.value.uploads
  return (
    <FormDialog
      title={t.asks(nameOf(upload.path))}
      action={t.answer}
      cancel={t.skip}
      onSubmit={() => uploads.answer(upload.id, answer.value, isForAll.value)}
      onClose={() => uploads.answer(upload.id, 'skip', false)}
    >
      <fieldset class="choices">
        <legend>{t.asksText(folderName(parentOf(upload.path)))}</legend>
        {answers.map((each) => (
          <label key={each} class="check">
            <input
              type="radio"
              name="answer"
              checked={answer.value === each}
              onChange={() => {
                answer.value = each
              }}
            />
            {t[each]}
          </label>
        ))}
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={isForAll.value}
          onChange={({ currentTarget }) => {
            isForAll.value = currentTarget.checked
          }}
        />
        {t.forAll}
      </label>
    </FormDialog>
  )
}
