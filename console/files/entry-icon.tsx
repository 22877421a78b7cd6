import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf, parentOf } from '../uploads/paths.ts'
import { isPage, pictureType } from './picture-type.ts'

interface EntryIconProps {
  readonly name: string
  readonly type: 'file' | 'folder'
}

export const EntryIcon = ({ name, type }: EntryIconProps) => {
  if (type === 'folder') return <Icon name="folder" />
  if (pictureType(name)) return <Icon name="picture" />
  return <Icon name={isPage(name) ? 'page' : 'file'} />
}

/** The name of an entry, and below it the folder of the entry. */
export const EntryPlace = ({ path }: { readonly path: string }) => (
  <span class="lines">
    <bdi>{nameOf(path)}</bdi>
    <bdi class="hint">{parentOf(path) || texts.value.files.root}</bdi>
  </span>
)
