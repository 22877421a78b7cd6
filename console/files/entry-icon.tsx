import { Icon } from '../parts/icon.tsx'
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
