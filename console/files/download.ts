import type { SiteClient } from '../../client/src/index.ts'
import { nameOf } from '../uploads/paths.ts'

const save = (href: string, name: string) => {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.rel = 'noopener'
  link.click()
}

/** The browser itself downloads the file, from a link that needs no token, so the size of the file does not matter. */
export const download = async (client: SiteClient, path: string): Promise<void> => {
  const { url } = await client.files.link(path)
  save(url, nameOf(path))
}

export const saveBlob = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(blob)
  save(url, name)
  // A minute is enough for the browser to start the download.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
