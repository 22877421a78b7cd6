import { useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { fromInput, type Given } from '../uploads/dropped.ts'

export const useFileDialogs = (onGiven: (given: Given) => void) => {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const field = (isFolder: boolean) => (
    <input
      ref={isFolder ? folder : files}
      type="file"
      multiple
      hidden
      {...(isFolder && { webkitdirectory: true })}
      aria-label={isFolder ? texts.value.uploads.chooseFolder : texts.value.uploads.chooseFiles}
      onChange={({ currentTarget }) => {
        onGiven(fromInput(currentTarget.files))
        // Without this, choosing the same files again would not cause an event.
        currentTarget.value = ''
      }}
    />
  )
  return {
    fields: (
      <>
        {field(false)}
        {field(true)}
      </>
    ),
    choose: (what: 'files' | 'folder') => (what === 'files' ? files : folder).current?.click(),
  }
}
