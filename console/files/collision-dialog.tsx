import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { CheckField } from '../parts/fields.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf, parentOf } from '../uploads/paths.ts'
import type { Answer } from '../uploads/send-upload.ts'
import type { Upload } from '../uploads/upload-list.ts'
import type { Uploads } from '../uploads/uploads.ts'
import { folderName } from './commands.ts'

// The question may appear while the user types elsewhere. So the default keeps both files, in case the user presses
// Enter.
const usual: Answer = 'both'

const answers: readonly Answer[] = ['skip', 'replace', usual]

interface CollisionDialogProps {
  readonly upload: Upload
  readonly uploads: Uploads
}

/** If the user closes the dialog, the file is skipped. */
export const CollisionDialog = ({ upload, uploads }: CollisionDialogProps) => {
  const isForAll = useSignal(false)
  const isOneOfMany = uploads.all.value.some(({ id, group }) => group === upload.group && id !== upload.id)
  const t = texts.value.uploads
  return (
    <Dialog
      title={t.asks(nameOf(upload.path), folderName(parentOf(upload.path)))}
      onClose={() => uploads.answer(upload.id, 'skip', false)}
    >
      <div class="dialog-body">
        <p>{t.bothHint}</p>
        {isOneOfMany && <CheckField label={t.forAll} value={isForAll} />}
      </div>
      <footer>
        {answers.map((each) => (
          <Button
            key={each}
            kind={each === usual ? 'primary' : 'plain'}
            isDefault={each === usual}
            onClick={() => uploads.answer(upload.id, each, isForAll.value)}
          >
            {t[each]}
          </Button>
        ))}
      </footer>
    </Dialog>
  )
}
